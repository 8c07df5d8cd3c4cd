#include "worker/model/torch/recorded_runs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proto/base/check.h"

namespace mpsd {
namespace {

size_t IndexOf(const std::vector<RunPrice>& prices, uint32_t size) {
  const auto place =
      std::lower_bound(prices.begin(), prices.end(), size,
                       [](const RunPrice& price, uint32_t wanted) { return price.rows < wanted; });
  return place - prices.begin();
}

}  // namespace

RecordPlace PlaceByShapes(absl::Span<const InputTensor> inputs, uint32_t rows) {
  RecordPlace place;
  place.size = rows;
  for (const InputTensor& input : inputs) {
    place.key.push_back(static_cast<int64_t>(input.datatype));
    place.key.push_back(static_cast<int64_t>(input.dims.size()));
    for (size_t i = 0; i < input.dims.size(); ++i) {
      const bool is_rows = i == 0 && input.dims[i] == rows;
      place.key.push_back(is_rows ? -1 : input.dims[i]);
    }
  }
  return place;
}

const RecordedBatch* RecordedRuns::Find(const RecordPlace& place) const {
  const auto found = sizes_.find(place.key);
  if (found == sizes_.end()) return nullptr;
  const std::optional<size_t> index = CheapestRecord(found->second.prices, place.size);
  return index.has_value() ? &found->second.batches[*index] : nullptr;
}

void RecordedRuns::Add(const RecordPlace& place, RecordedBatch batch) {
  Remove(place);
  Sizes& sizes = sizes_[place.key];
  const size_t index = IndexOf(sizes.prices, place.size);
  sizes.prices.insert(sizes.prices.begin() + index, {place.size});
  sizes.batches.insert(sizes.batches.begin() + index, std::move(batch));
}

void RecordedRuns::SetPrice(const RecordPlace& place, int64_t replayed_ns, int64_t plain_ns) {
  const auto found = sizes_.find(place.key);
  MPSD_CHECK(found != sizes_.end());
  std::vector<RunPrice>& prices = found->second.prices;
  const size_t index = IndexOf(prices, place.size);
  MPSD_CHECK(index < prices.size() && prices[index].rows == place.size);
  prices[index] = {place.size, replayed_ns, plain_ns};
}

void RecordedRuns::Remove(const RecordPlace& place) {
  const auto found = sizes_.find(place.key);
  if (found == sizes_.end()) return;
  Sizes& sizes = found->second;
  const size_t index = IndexOf(sizes.prices, place.size);
  if (index == sizes.prices.size() || sizes.prices[index].rows != place.size) return;
  sizes.prices.erase(sizes.prices.begin() + index);
  sizes.batches.erase(sizes.batches.begin() + index);
}

size_t RecordedRuns::size() const {
  size_t size = 0;
  for (const auto& [key, sizes] : sizes_) size += sizes.batches.size();
  return size;
}

}  // namespace mpsd
