// RecordedRuns: the recorded runs of one lane, found by the shapes of a batch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "worker/model/model.h"
#include "worker/model/run_prices.h"
#include "worker/model/torch/graph_recorder.h"

namespace mpsd {

// A recorded run with the tensors that it reads and writes, all on the device. Of a model that
// batches, the first dim of each is the record's rows.
struct RecordedBatch {
  std::vector<at::Tensor> inputs;   // in the spec's order
  std::vector<at::Tensor> outputs;  // likewise
  std::unique_ptr<RecordedRun> run;
};

// Which run a batch is answered by: those of its shapes, the batch dim aside, by what they cost.
// Filled while the lane warms up, and constant while it serves. Lives on the lane's thread.
//
//   input_ids [rows,16], mask [rows,16]  ─▶  records of 1, 2, 4, 8 rows, each with its price
//   input_ids [rows,32], mask [rows,32]  ─▶  records of 1, 2, 4 rows
//
// A batch whose shape has no record is run without one. Owns the records and, through their
// tensors, memory on the device.
class RecordedRuns {
 public:
  // The run for such a batch; null where the batch is better run without one, or leaves inputs out.
  const RecordedBatch* Find(absl::Span<const InputTensor> inputs, uint32_t rows) const;

  // Keeps a run for batches of such inputs with `rows` rows, in place of one that is there.
  void Add(absl::Span<const InputTensor> inputs, uint32_t rows, RecordedBatch batch);

  // What the run of exactly these shapes costs; until it is said, nothing. REQUIRES: it is there.
  void SetPrice(absl::Span<const InputTensor> inputs, const RunPrice& price);
  void Remove(absl::Span<const InputTensor> inputs, uint32_t rows);

  size_t size() const;

 private:
  // The runs of one shape, sorted by rows; each with its price at the same index.
  struct Sizes {
    std::vector<RunPrice> prices;
    std::vector<RecordedBatch> batches;
  };

  // The inputs' datatypes and dims; -1 stands for a first dim of `rows`.
  using Key = absl::InlinedVector<int64_t, 24>;
  static Key KeyOf(absl::Span<const InputTensor> inputs, uint32_t rows);

  std::map<Key, Sizes> sizes_;
};

}  // namespace mpsd
