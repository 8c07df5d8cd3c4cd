// ReturnForecast: how many of the clients that were just answered are soon back, and by when.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mpsd {

// Requests that are expected to arrive. `requests` is 0 when none is.
struct ExpectedReturns {
  uint32_t requests = 0;
  int64_t by_ns = 0;  // seldom later

  // Of the last batch that was answered: its requests, how long almost all of its clients take
  // until they are back, and for how much of that time they come.
  uint32_t answered = 1;
  int64_t round_ns = 0;
  int64_t spread_ns = 0;

  // How long the clients of a batch of so many requests take. Where one client and one front end
  // handle all of them, twice as many take twice as long to come.
  int64_t RoundNs(uint32_t of_requests) const {
    const double more = static_cast<double>(of_requests) / answered - 1;
    return round_ns + static_cast<int64_t>(static_cast<double>(spread_ns) * more);
  }
};

// Clients that send their next request when they have the answer to the last one (a closed loop)
// come back together, a moment after their batch. A scheduler that knows it can wait that moment
// and run all in one batch. Owned by a pool. Thread-compatible: guarded by the pool's mutex. It
// reads no clock, and knows no client: it learns from times alone.
//
// Each answer leaves a debt, and each arrival pays one: of the batch that was answered a mean delay
// ago, or about so long. The time between the two is
// averaged, and so is the share of debts that are paid in time. Arrivals that have nothing to do
// with answers pay debts too, but at times so far apart that the forecast is late, and nobody waits
// for it. A client that is away for more than 50 ms is not waited for in any case.
//
//   CompletionIntake ── Answered(4) ─▶ 4 debts
//   the pool ── Arrived() ─▶ 3 debts        ── Expect() ─▶ a snapshot: 3 more, by 12 ms from now
class ReturnForecast {
 public:
  // So many requests were answered.
  void Answered(uint32_t requests, int64_t now_ns);

  // A request has arrived, also one that was refused in advance: its client is back all the same.
  void Arrived(int64_t now_ns);

  // How many of the debts will be paid, and by when almost all of them. Costs a step for each batch
  // whose debts are open, kGroups at most.
  ExpectedReturns Expect(int64_t now_ns) const;

 private:
  // The debts of one batch.
  struct Group {
    int64_t answered_ns = 0;
    uint32_t owed = 0;
    uint32_t answered = 0;
  };
  static constexpr size_t kGroups = 64;  // beyond them the oldest is forgotten

  // Whose debt a request pays that arrives now; null: nobody's.
  Group* GroupPaidAt(int64_t now_ns);

  Group& group(size_t i) { return groups_[(first_ + i) % kGroups]; }
  const Group& group(size_t i) const { return groups_[(first_ + i) % kGroups]; }
  void ForgetFirst();
  void ForgetLate(int64_t now_ns);
  int64_t SeldomLaterNs() const;

  std::array<Group, kGroups> groups_;  // a ring; in the order of their answers
  size_t first_ = 0;
  size_t count_ = 0;
  double returned_ = 0;      // the share of debts that were paid, 0 to 1
  double delay_ns_ = 0;      // the mean, of those that were paid
  double deviation_ns_ = 0;  // from it, the mean
  bool measured_ = false;
};

}  // namespace mpsd
