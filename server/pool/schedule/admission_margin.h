// AdmissionMargin: how long before its deadline a request must be expected to end.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mpsd {

// In overload, every admitted request is expected to end just in time. Forecasts err, and an answer
// takes a while to reach its client. Without a margin, a small error would make all requests end
// just too late, after they have used a lane. So the margin, a share of a request's whole time,
// adapts. It grows with each admitted request that ends too late and shrinks with each that is in
// time, until one in twenty is too late.
//
//   arrival                          BackByNs              deadline
//   ├────────────────────────────────┤◀─margin─▶│◀─answer─▶┤
//
// Counts only requests with a client's deadline. A request that ends long before its deadline says
// nothing about forecasts, and neither does one that was expected to be late. Owned by a pool.
// Thread-compatible: guarded by the pool's mutex. It reads no clock.
class AdmissionMargin {
 public:
  // When the batch of a request that arrived at `arrival_ns` must be back.
  int64_t BackByNs(int64_t arrival_ns, int64_t deadline_ns) const {
    const int64_t whole_ns = deadline_ns - arrival_ns;
    const auto margin_ns = static_cast<int64_t>(share_ * static_cast<double>(whole_ns));
    return deadline_ns - AnswerNs(whole_ns) - margin_ns;
  }

  // The batch of an admitted request is back at `now_ns`. Call NoteEnd() before, unless the request
  // was expected to be late.
  void NoteAnswer(int64_t arrival_ns, int64_t deadline_ns, int64_t now_ns) {
    const int64_t back_by_ns = BackByNs(arrival_ns, deadline_ns);
    const bool is_telling = 2 * (now_ns - arrival_ns) >= back_by_ns - arrival_ns;
    if (is_telling && !IsLate(arrival_ns, deadline_ns, now_ns)) {
      share_ = std::max(0.0, share_ - kStep / kInTimeForOneLate);
    }
  }

  // A request that was expected to be in time ends at `now_ns`, with or without an answer. If it
  // still had time then, its end says nothing.
  void NoteEnd(int64_t arrival_ns, int64_t deadline_ns, int64_t now_ns) {
    if (IsLate(arrival_ns, deadline_ns, now_ns)) share_ = std::min(kMostShare, share_ + kStep);
  }

 private:
  static constexpr double kMostShare = 0.5;
  static constexpr double kStep = 1.0 / 512;
  static constexpr double kInTimeForOneLate = 19;
  static constexpr int64_t kLeastAnswerNs = 200'000;

  // How long an answer may take to its client. A client that waits longer minds a little room less.
  static int64_t AnswerNs(int64_t whole_ns) { return std::max(kLeastAnswerNs, whole_ns / 20); }

  // Whether an answer that leaves at `now_ns` reaches the client too late.
  static bool IsLate(int64_t arrival_ns, int64_t deadline_ns, int64_t now_ns) {
    return now_ns > deadline_ns - AnswerNs(deadline_ns - arrival_ns);
  }

  double share_ = 0;
};

}  // namespace mpsd
