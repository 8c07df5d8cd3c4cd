#include "worker/execute/token_counter.h"

#include <algorithm>
#include <cstddef>

#include "worker/execute/row_buckets.h"

namespace mpsd {
namespace {

template <typename Number>
uint64_t CountKept(const char* mask, size_t tokens) {
  const auto* first = reinterpret_cast<const Number*>(mask);
  return tokens - static_cast<uint64_t>(std::count(first, first + tokens, Number{0}));
}

}  // namespace

TokenCount TokenCounter::Count(const Batch& batch) const {
  if (!places_.has_value() || batch.inputs[places_->mask].datatype == DataType::kInvalid) return {};
  const BatchInput& mask = batch.inputs[places_->mask];
  const auto length = static_cast<size_t>(mask.dims[0]);
  uint64_t kept = 0;
  for (const BatchRun& run : batch.runs) {
    const char* const rows = run.inputs[places_->mask];
    const size_t tokens = run.row_count * length;
    kept += mask.datatype == DataType::kInt64 ? CountKept<int64_t>(rows, tokens)
                                              : CountKept<int32_t>(rows, tokens);
  }
  if (model_->traits().leaves_padding_out) return {kept, 0};
  const uint32_t rows = model_->traits().wants_row_buckets
                            ? RowBucketOf(batch.row_count, model_->spec().max_batch_size)
                            : batch.row_count;
  return {rows * length, rows * length - kept};
}

}  // namespace mpsd
