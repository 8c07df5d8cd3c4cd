// CompletedBatch: a batch that came back, checked and in private memory, on its way to its replies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"
#include "proto/link/model_spec.h"
#include "server/request/reply.h"
#include "server/request/request.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// A request's share of a batch: rows first_row … first_row + its rows of the batch.
struct BatchEntry {
  Request* request = nullptr;  // null: it ended before the batch did
  uint32_t first_row = 0;
  uint32_t row_count = 0;
  RowPlace place;
};

struct BatchOutput {
  DataType datatype = DataType::kInvalid;
  Dims dims;  // with the batch dim when the model batches
  absl::string_view bytes;
  std::vector<uint64_t> row_ends;  // of BYTES: where each row of `bytes` ends, as was validated
};

// What a batch brings of the answer to each of its requests.
enum class AnswerPart : uint8_t {
  kWhole,      // all of it, or an error
  kOneOfMany,  // a decoupled model's answer; the next is to be asked for
  kNoMore,     // a decoupled model's request has had all its answers
};

struct CompletedBatch {
  const ModelSpec* spec = nullptr;
  ModelMetrics* metrics = nullptr;
  std::vector<BatchEntry> entries;
  std::vector<BatchOutput> outputs;
  std::vector<uint8_t> row_failed;
  absl::Status failure;          // of the whole batch
  std::string row_failure_text;  // of the failed rows
  AnswerMemory* memory = nullptr;
  AnswerPart part = AnswerPart::kWhole;
  uint32_t answer_index = 0;
  uint32_t row_count = 0;
  int64_t batched_ns = 0;
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
};

// Gives the replies of a batch. Implemented by reply/. Thread-safe.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;

  // Every entry's request, where there still is one, has got its reply, or the part of it that the
  // batch brings, when this returns.
  virtual void Complete(const CompletedBatch& batch) = 0;
};

}  // namespace mpsd
