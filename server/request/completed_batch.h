// CompletedBatch: a worker's checked batch, on its way to replies.
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

struct BatchEntry {
  Request* request = nullptr;  // null: it ended before the batch
  uint32_t first_row = 0;
  uint32_t row_count = 0;
  RowPlace place;
};

// The rows of all requests in order, where the worker wrote them. Size and `row_ends` were checked
// against the spec and the batch.
struct BatchOutput {
  DataType datatype = DataType::kInvalid;
  Dims dims;  // with the batch dim if the model batches
  absl::string_view bytes;
  std::vector<uint64_t> row_ends;  // for BYTES: where each row of `bytes` ends
};

enum class AnswerPart : uint8_t {
  kWhole,      // or an error
  kOneOfMany,  // one answer to a decoupled request; the next must be asked for
  kNoMore,     // a decoupled request had all its answers
};

// A batch between steps 11 and 12 of a request. Made by pool/ on the thread that drained and
// checked the completion; lives until Complete() returns. `outputs` may lie in the worker's memory.
//
//   entries      | r1: 2 rows | hole | r3: 1 row |     a hole: its request ended earlier
//   each output  | . | .      | .    | .         |     row_count rows
//   row_failed   | 0 | 0      | 0    | 1         |     likewise
//
// A `failure` ends every request. Otherwise each failed row fails its request alone.
// Thread-compatible.
struct CompletedBatch {
  const ModelSpec* spec = nullptr;
  ModelMetrics* metrics = nullptr;
  std::vector<BatchEntry> entries;
  std::vector<BatchOutput> outputs;
  std::vector<uint8_t> row_failed;
  absl::Status failure;
  std::string row_failure_text;    // for the failed rows
  AnswerMemory* memory = nullptr;  // holds `outputs`; null: private memory
  AnswerPart part = AnswerPart::kWhole;
  uint32_t answer_index = 0;  // for a decoupled request
  uint32_t row_count = 0;
  uint64_t computed_tokens = 0;  // by the worker's word
  uint64_t padding_tokens = 0;   // part of computed_tokens
  int64_t batched_ns = 0;
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
};

// Called by pool/ outside its mutex; implemented by pool/reply/. Thread-safe.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;

  // Gives each entry's request its reply, or a part of it, before it returns. Never blocks.
  virtual void Complete(const CompletedBatch& batch) = 0;
};

}  // namespace mpsd
