#include "load_tests/simulator/clairvoyant_bound.h"

#include <algorithm>
#include <limits>
#include <random>

namespace mpsd {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// For each number of answered requests, the earliest time at which the lane can be free.
class States {
 public:
  void Note(uint64_t answered, int64_t free_ns) {
    if (free_ns_.empty()) least_ = answered;
    if (answered < least_) {
      free_ns_.insert(free_ns_.begin(), least_ - answered, kNever);
      least_ = answered;
    }
    const size_t place = answered - least_;
    if (place >= free_ns_.size()) free_ns_.resize(place + 1, kNever);
    free_ns_[place] = std::min(free_ns_[place], free_ns);
  }

  // Calls `visit` for each state unless another has answered more and is free no later. Before
  // `now_ns` the lane has nothing to do.
  template <typename Visit>
  void ForEachUseful(int64_t now_ns, const Visit& visit) const {
    int64_t earliest_ns = kNever;
    for (size_t place = free_ns_.size(); place > 0; --place) {
      const int64_t free_ns = std::max(free_ns_[place - 1], now_ns);
      if (free_ns >= earliest_ns) continue;
      earliest_ns = free_ns;
      visit(least_ + place - 1, free_ns);
    }
  }

  uint64_t most_answered() const { return least_ + free_ns_.size() - 1; }

 private:
  uint64_t least_ = 0;
  std::vector<int64_t> free_ns_;
};

// A smaller batch may take a larger batch's time.
std::vector<int64_t> LeastTimes(const TrueCurve& curve, uint32_t max_batch_rows) {
  std::vector<int64_t> least_ns(max_batch_rows + 1);
  int64_t of_larger_ns = kNever;
  for (uint32_t rows = max_batch_rows; rows > 0; --rows) {
    of_larger_ns = std::min(of_larger_ns, static_cast<int64_t>(curve(rows)));
    least_ns[rows] = of_larger_ns;
  }
  return least_ns;
}

}  // namespace

// Some best schedule has only batches of consecutive arrivals: a skipped request can take the place
// of the batch's last one, which may wait longer. So each decision leaves a request out, or begins
// a batch with it once the batch's last request is there.
uint64_t MostAnsweredInTime(const std::vector<int64_t>& arrivals_ns, int64_t deadline_ns,
                            uint32_t max_batch_rows, const TrueCurve& curve) {
  const size_t count = arrivals_ns.size();
  const std::vector<int64_t> least_ns = LeastTimes(curve, max_batch_rows);
  std::vector<States> states(count + 1);
  states[0].Note(0, 0);
  for (size_t first = 0; first < count; ++first) {
    const int64_t latest_ns = arrivals_ns[first] + deadline_ns;
    states[first].ForEachUseful(arrivals_ns[first], [&](uint64_t answered, int64_t free_ns) {
      states[first + 1].Note(answered, free_ns);
      for (uint32_t rows = 1; rows <= max_batch_rows && first + rows <= count; ++rows) {
        const int64_t end_ns = std::max(free_ns, arrivals_ns[first + rows - 1]) + least_ns[rows];
        if (end_ns > latest_ns) break;
        states[first + rows].Note(answered + rows, end_ns);
      }
    });
    states[first] = {};
  }
  return states[count].most_answered();
}

std::vector<int64_t> PoissonArrivals(const SimulatedLoad& load, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> gap_ns(load.requests_per_s / 1e9);
  std::vector<int64_t> arrivals_ns;
  for (double at_ns = gap_ns(random); at_ns < static_cast<double>(load.length_ns);
       at_ns += gap_ns(random)) {
    arrivals_ns.push_back(static_cast<int64_t>(at_ns));
  }
  return arrivals_ns;
}

}  // namespace mpsd
