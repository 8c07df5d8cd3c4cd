// AdmissionMargin: how long before its deadline a request must be expected to end.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mpsd {

// In overload every admitted request is expected to end just in time. Forecasts err, so without a
// margin all would end just too late. The margin is a share of a request's whole time. It grows
// with each admitted request that ends too late and shrinks with each that is in time, until one in
// twenty is too late.
//
//   arrival                          BackByNs              deadline
//   ├────────────────────────────────┤◀─margin─▶│◀─answer─▶┤
//
// Counts only requests with a client's deadline. Thread-compatible: its pool's mutex guards it.
class AdmissionMargin {
 public:
  int64_t BackByNs(int64_t arrival_ns, int64_t deadline_ns) const {
    const int64_t whole_ns = deadline_ns - arrival_ns;
    const auto margin_ns = static_cast<int64_t>(share_ * static_cast<double>(whole_ns));
    return deadline_ns - AnswerNs(whole_ns) - margin_ns;
  }

  // The batch is back. An end long before the deadline says nothing. REQUIRES: NoteEnd() was
  // called, unless the request was expected to be late.
  void NoteAnswer(int64_t arrival_ns, int64_t deadline_ns, int64_t now_ns) {
    const int64_t back_by_ns = BackByNs(arrival_ns, deadline_ns);
    const bool is_telling = 2 * (now_ns - arrival_ns) >= back_by_ns - arrival_ns;
    if (is_telling && !IsLate(arrival_ns, deadline_ns, now_ns)) {
      share_ = std::max(0.0, share_ - kStep / kInTimeForOneLate);
    }
  }

  // A request that was expected to be in time ends, with or without an answer.
  void NoteEnd(int64_t arrival_ns, int64_t deadline_ns, int64_t now_ns) {
    if (IsLate(arrival_ns, deadline_ns, now_ns)) share_ = std::min(kMostShare, share_ + kStep);
  }

 private:
  static constexpr double kMostShare = 0.5;
  static constexpr double kStep = 1.0 / 512;
  static constexpr double kInTimeForOneLate = 19;
  static constexpr int64_t kLeastAnswerNs = 200'000;

  // An answer may take this long to its client.
  static int64_t AnswerNs(int64_t whole_ns) { return std::max(kLeastAnswerNs, whole_ns / 20); }

  static bool IsLate(int64_t arrival_ns, int64_t deadline_ns, int64_t now_ns) {
    return now_ns > deadline_ns - AnswerNs(deadline_ns - arrival_ns);
  }

  double share_ = 0;
};

}  // namespace mpsd
