#include "worker/model/torch/recorded_runs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proto/base/check.h"

namespace mpsd {
namespace {

size_t PlaceOf(const std::vector<RunPrice>& prices, uint32_t rows) {
  const auto place =
      std::lower_bound(prices.begin(), prices.end(), rows,
                       [](const RunPrice& price, uint32_t wanted) { return price.rows < wanted; });
  return place - prices.begin();
}

}  // namespace

RecordedRuns::Key RecordedRuns::KeyOf(absl::Span<const InputTensor> inputs, uint32_t rows) {
  Key key;
  for (const InputTensor& input : inputs) {
    key.push_back(static_cast<int64_t>(input.datatype));
    key.push_back(static_cast<int64_t>(input.dims.size()));
    for (size_t i = 0; i < input.dims.size(); ++i) {
      const bool is_rows = i == 0 && input.dims[i] == rows;
      key.push_back(is_rows ? -1 : input.dims[i]);
    }
  }
  return key;
}

const RecordedBatch* RecordedRuns::Find(absl::Span<const InputTensor> inputs, uint32_t rows) const {
  if (sizes_.empty()) return nullptr;
  const auto found = sizes_.find(KeyOf(inputs, rows));
  if (found == sizes_.end()) return nullptr;
  const std::optional<size_t> index = CheapestRecord(found->second.prices, rows);
  return index.has_value() ? &found->second.batches[*index] : nullptr;
}

void RecordedRuns::Add(absl::Span<const InputTensor> inputs, uint32_t rows, RecordedBatch batch) {
  Remove(inputs, rows);
  Sizes& sizes = sizes_[KeyOf(inputs, rows)];
  const size_t place = PlaceOf(sizes.prices, rows);
  sizes.prices.insert(sizes.prices.begin() + place, {rows});
  sizes.batches.insert(sizes.batches.begin() + place, std::move(batch));
}

void RecordedRuns::SetPrice(absl::Span<const InputTensor> inputs, const RunPrice& price) {
  const auto found = sizes_.find(KeyOf(inputs, price.rows));
  MPSD_CHECK(found != sizes_.end());
  const size_t place = PlaceOf(found->second.prices, price.rows);
  MPSD_CHECK(place < found->second.prices.size() && found->second.prices[place].rows == price.rows);
  found->second.prices[place] = price;
}

void RecordedRuns::Remove(absl::Span<const InputTensor> inputs, uint32_t rows) {
  const auto found = sizes_.find(KeyOf(inputs, rows));
  if (found == sizes_.end()) return;
  Sizes& sizes = found->second;
  const size_t place = PlaceOf(sizes.prices, rows);
  if (place == sizes.prices.size() || sizes.prices[place].rows != rows) return;
  sizes.prices.erase(sizes.prices.begin() + place);
  sizes.batches.erase(sizes.batches.begin() + place);
}

size_t RecordedRuns::size() const {
  size_t size = 0;
  for (const auto& [key, sizes] : sizes_) size += sizes.batches.size();
  return size;
}

}  // namespace mpsd
