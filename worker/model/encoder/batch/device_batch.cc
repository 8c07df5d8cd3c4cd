#include "worker/model/encoder/batch/device_batch.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "ATen/ops/empty.h"

namespace mpsd {
namespace {

const TokenBatch& NoRows() {
  static const auto* const batch = new TokenBatch();
  return *batch;
}

}  // namespace

DeviceBatch::DeviceBatch(const TokenBatch& batch, c10::Device device) : host_(&batch) {
  const BatchRoom room{batch.size(), static_cast<int64_t>(batch.rows.size())};
  const std::vector<int64_t> numbers = NumbersOf(batch, room);
  const at::Tensor here = at::empty({room.size()}, at::kLong);
  std::memcpy(here.data_ptr<int64_t>(), numbers.data(), numbers.size() * sizeof(int64_t));
  Split(here.to(device), room);
  if (batch.types.empty()) types_ = at::Tensor();
  for (const TokenRun& run : batch.runs) longest_ = std::max(longest_, run.length);
}

DeviceBatch::DeviceBatch(const at::Tensor& numbers, int64_t rows, int64_t longest)
    : host_(&NoRows()) {
  const BatchRoom room = BatchRoom::Of(numbers.size(0), rows);
  Split(numbers, room);
  longest_ = std::min(room.tokens, longest);
}

void DeviceBatch::Split(const at::Tensor& numbers, const BatchRoom& room) {
  int64_t first = 0;
  const auto next = [&](int64_t count) {
    first += count;
    return numbers.narrow(0, first - count, count);
  };
  ids_ = next(room.tokens);
  positions_ = next(room.tokens);
  types_ = next(room.tokens);
  firsts_ = next(room.rows);
  lasts_ = next(room.rows);
  places_ = next(room.rows);
  const at::Tensor starts = next(room.rows + 1);
  if (numbers.is_cuda()) starts_ = starts.to(at::kInt);
}

}  // namespace mpsd
