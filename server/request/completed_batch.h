// CompletedBatch: a batch that a worker has run, checked, on its way to its requests' replies.
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

// One request's share of a batch: `row_count` rows of it, from `first_row` on.
struct BatchEntry {
  Request* request = nullptr;  // null: it ended before the batch did
  uint32_t first_row = 0;
  uint32_t row_count = 0;
  RowPlace place;
};

// One output of the batch: the rows of all its requests, one after the other. Lies where the worker
// wrote it; its size and its `row_ends` were checked against the spec and the batch.
struct BatchOutput {
  DataType datatype = DataType::kInvalid;
  Dims dims;  // with the batch dim when the model batches
  absl::string_view bytes;
  std::vector<uint64_t> row_ends;  // of BYTES: where each row of `bytes` ends; checked
};

// How much of its requests' answers a batch holds.
enum class AnswerPart : uint8_t {
  kWhole,      // the whole answer, or an error
  kOneOfMany,  // one answer of a decoupled model's request; the next must be asked for
  kNoMore,     // a decoupled model's request has had all its answers
};

// What a worker returned for a batch, between steps 11 and 12 of a request. Made by dispatch/ on
// the thread that drained the completion, which checked every field of it; lives until Complete()
// returns. `outputs` may lie in the worker's memory; all else is private.
//
//   entries      | r1: 2 rows | hole | r3: 1 row |     a hole: its request ended earlier
//   each output  | . | .      | .    | .         |     row_count rows
//   row_failed   | 0 | 0      | 0    | 1         |     likewise
//
// Either `failure` is not OK and ends every request, or the outputs are there and each failed row
// fails its request alone. Thread-compatible.
struct CompletedBatch {
  const ModelSpec* spec = nullptr;
  ModelMetrics* metrics = nullptr;
  std::vector<BatchEntry> entries;
  std::vector<BatchOutput> outputs;
  std::vector<uint8_t> row_failed;
  absl::Status failure;            // of the whole batch
  std::string row_failure_text;    // of the failed rows
  AnswerMemory* memory = nullptr;  // that `outputs` lie in; null: in private memory
  AnswerPart part = AnswerPart::kWhole;
  uint32_t answer_index = 0;  // of a decoupled model's request; else 0
  uint32_t row_count = 0;
  uint64_t computed_tokens = 0;  // as the worker says; 0 where the model takes none
  uint64_t padding_tokens = 0;   // of these
  int64_t batched_ns = 0;
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
};

// Turns completed batches into replies. Implemented by reply/, called by dispatch/ outside its
// mutex. Thread-safe.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;

  // Gives each entry's request, where there still is one, its reply or the part of it that the
  // batch holds, before it returns. Never blocks.
  virtual void Complete(const CompletedBatch& batch) = 0;
};

}  // namespace mpsd
