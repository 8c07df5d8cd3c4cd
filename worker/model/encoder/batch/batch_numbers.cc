#include "worker/model/encoder/batch/batch_numbers.h"

#include <algorithm>
#include <numeric>

#include "proto/base/check.h"

namespace mpsd {
namespace {

// Each row's index in token order.
std::vector<int64_t> PlacesOf(const TokenBatch& batch) {
  std::vector<int64_t> order(batch.rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return batch.rows[a].first < batch.rows[b].first; });
  std::vector<int64_t> places(order.size());
  for (size_t i = 0; i < order.size(); ++i) places[order[i]] = static_cast<int64_t>(i);
  return places;
}

std::vector<int64_t> StartsOf(const TokenBatch& batch) {
  std::vector<int64_t> starts;
  for (const TokenRun& run : batch.runs) {
    for (int64_t row = 0; row < run.rows; ++row) starts.push_back(run.first + row * run.length);
  }
  return starts;
}

// Fills the room with `rest`.
void Append(const std::vector<int64_t>& own, int64_t room, int64_t rest,
            std::vector<int64_t>* numbers) {
  numbers->insert(numbers->end(), own.begin(), own.end());
  numbers->insert(numbers->end(), static_cast<size_t>(room) - own.size(), rest);
}

}  // namespace

std::vector<int64_t> NumbersOf(const TokenBatch& batch, const BatchRoom& room) {
  MPSD_CHECK(room.Holds(batch));
  std::vector<int64_t> firsts;
  std::vector<int64_t> lasts;
  for (const TokenRow& row : batch.rows) {
    firsts.push_back(row.first);
    lasts.push_back(row.last);
  }
  std::vector<int64_t> numbers;
  numbers.reserve(static_cast<size_t>(room.size()));
  Append(batch.ids, room.tokens, 0, &numbers);
  Append(batch.positions, room.tokens, 0, &numbers);
  Append(batch.types, room.tokens, 0, &numbers);
  Append(firsts, room.rows, 0, &numbers);
  Append(lasts, room.rows, 0, &numbers);
  Append(PlacesOf(batch), room.rows, 0, &numbers);
  Append(StartsOf(batch), room.rows + 1, batch.size(), &numbers);
  return numbers;
}

}  // namespace mpsd
