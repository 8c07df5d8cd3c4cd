#include "worker/model/run_recorder.h"

namespace mpsd {
namespace {

bool HasOpenDim(const ModelSpec& spec) {
  for (const TensorSpec& input : spec.inputs) {
    for (size_t dim = 0; dim < input.dims.size(); ++dim) {
      if (input.dims[dim] < 0 && !IsPadded(spec, input, dim)) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<uint32_t> RecordedRows(uint32_t rows_max) {
  std::vector<uint32_t> sizes;
  for (uint32_t rows = 1; rows < rows_max; rows *= 2) {
    sizes.push_back(rows);
    if (rows >= 16 && rows + rows / 2 < rows_max) sizes.push_back(rows + rows / 2);
  }
  sizes.push_back(rows_max);
  return sizes;
}

std::vector<TrialShape> RecordShapes(const ModelSpec& spec) {
  std::vector<TrialShape> shapes;
  if (HasOpenDim(spec)) return shapes;
  const std::vector<uint32_t> rows = RecordedRows(spec.batches() ? spec.max_batch_size : 1);
  for (size_t step = BucketSteps(spec); step-- > 0;) {
    for (size_t i = rows.size(); i-- > 0;) shapes.push_back({rows[i], step});
  }
  return shapes;
}

}  // namespace mpsd
