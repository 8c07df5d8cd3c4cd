// ReturnForecast: how many of the clients just answered will soon be back, and by when.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mpsd {

// None if `requests` is 0.
struct ExpectedReturns {
  uint32_t requests = 0;
  int64_t by_ns = 0;  // seldom later

  // The last answered batch: its requests, the time until almost all of its clients are back, and
  // how much of that time they spread over.
  uint32_t answered = 1;
  int64_t round_ns = 0;
  int64_t spread_ns = 0;

  // For twice as many requests the clients may spread over twice the time.
  int64_t RoundNs(uint32_t of_requests) const {
    const double more = static_cast<double>(of_requests) / answered - 1;
    return round_ns + static_cast<int64_t>(static_cast<double>(spread_ns) * more);
  }
};

// In a closed loop clients come back together, a moment after their batch. A scheduler can wait
// that moment and run all in one batch. Thread-compatible: its pool's mutex guards it.
//
// Each answer leaves a debt, and each arrival pays one: of the batch that was answered about the
// mean delay ago. Arrivals unrelated to answers pay debts too, but so far apart that nobody waits.
// A client that is away for more than 50 ms is never waited for.
//
//   CompletionIntake ── Answered(4) ─▶ 4 debts
//   the pool ── Arrived() ─▶ 3 debts        ── Expect() ─▶ a snapshot: 3 more, by 12 ms from now
class ReturnForecast {
 public:
  void Answered(uint32_t requests, int64_t now_ns);

  // Refused requests count: their clients are back all the same.
  void Arrived(int64_t now_ns);

  // How many debts will be paid, and by when almost all are.
  ExpectedReturns Expect(int64_t now_ns) const;

 private:
  struct Group {
    int64_t answered_ns = 0;
    uint32_t owed = 0;
    uint32_t answered = 0;
  };
  static constexpr size_t kGroups = 64;  // beyond these the oldest is forgotten

  Group* GroupPaidAt(int64_t now_ns);

  Group& group(size_t i) { return groups_[(first_ + i) % kGroups]; }
  const Group& group(size_t i) const { return groups_[(first_ + i) % kGroups]; }
  void ForgetFirst();
  void ForgetLate(int64_t now_ns);
  int64_t SeldomLaterNs() const;

  std::array<Group, kGroups> groups_;  // a ring in the order of answers
  size_t first_ = 0;
  size_t count_ = 0;
  double returned_ = 0;      // share of debts that were paid
  double delay_ns_ = 0;      // mean delay of paid debts
  double deviation_ns_ = 0;  // mean distance from it
  bool measured_ = false;
};

}  // namespace mpsd
