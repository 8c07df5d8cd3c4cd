// RecordedRuns: the recorded runs of one lane, with their prices.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "absl/types/span.h"
#include "worker/model/model.h"
#include "worker/model/run_prices.h"
#include "worker/model/torch/graph_recorder.h"

namespace mpsd {

// All tensors that the run reads and writes lie on the device.
struct RecordedBatch {
  std::vector<at::Tensor> inputs;   // in the form that TorchModel::Compute() takes
  std::vector<at::Tensor> outputs;  // in the spec's order; if the model batches, with `rows` rows
  uint32_t rows = 0;
  std::unique_ptr<RecordedRun> run;
};

// Where a batch's records are found. Records with one key differ only in their size, and a larger
// one may answer the batch. By default the key is the inputs' shapes, and the size is their rows.
struct RecordPlace {
  std::vector<int64_t> key;
  uint32_t size = 0;  // 0: no record answers the batch
};

// Filled while the lane warms up, then constant. Lives on the lane's thread. Owns the records and
// their memory on the device.
//
//   input_ids [rows,16], mask [rows,16]  ─▶  records of 1, 2, 4, 8 rows, each with its price
//   input_ids [rows,32], mask [rows,32]  ─▶  records of 1, 2, 4 rows
class RecordedRuns {
 public:
  // Null if the batch is better run without a record.
  const RecordedBatch* Find(const RecordPlace& place) const;

  // Replaces an earlier run of that place.
  void Add(const RecordPlace& place, RecordedBatch batch);

  // Until this call the run of exactly this place costs nothing. REQUIRES: the run is there.
  void SetPrice(const RecordPlace& place, int64_t replayed_ns, int64_t plain_ns);
  void Remove(const RecordPlace& place);

  size_t size() const;

 private:
  // Sorted by size; each run has its price at the same index.
  struct Sizes {
    std::vector<RunPrice> prices;
    std::vector<RecordedBatch> batches;
  };

  std::map<std::vector<int64_t>, Sizes> sizes_;
};

// A first dim of `rows` is not part of the key.
RecordPlace PlaceByShapes(absl::Span<const InputTensor> inputs, uint32_t rows);

}  // namespace mpsd
