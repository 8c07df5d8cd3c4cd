// AdmissionMargin: how much before its deadline a request has to be foreseen to end.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mpsd {

// In overload each request that is let in is one that is foreseen to end just in time. Forecasts
// err, and an answer takes a while from its lane to its client. Without a margin a small error
// makes all of them end just too late, after they have had their time on a lane. So the margin, a
// share of a request's whole time, learns. It grows with each request that was let in and ended
// too late, and shrinks with each that was in time, until one in twenty is too late.
//
//   arrival                          BackByNs              deadline
//   ├────────────────────────────────┤◀─margin─▶│◀─answer─▶┤
//
// Noted are requests whose clients gave their deadlines. One that ends long before it has to says
// nothing of forecasts, and neither does one that ends too late as foreseen. Owned by a pool.
// Thread-compatible: guarded by the pool's mutex. It reads no clock.
class AdmissionMargin {
 public:
  // When the batch of a request that arrived at `arrival_ns` has to be back.
  int64_t BackByNs(int64_t arrival_ns, int64_t deadline_ns) const {
    const int64_t whole_ns = deadline_ns - arrival_ns;
    const auto margin_ns = static_cast<int64_t>(share_ * static_cast<double>(whole_ns));
    return deadline_ns - AnswerNs(whole_ns) - margin_ns;
  }

  // The batch of such a request, which was let in, is back at `now_ns`. NoteEnd() is called before,
  // unless it was foreseen to be late.
  void NoteAnswer(int64_t arrival_ns, int64_t deadline_ns, int64_t now_ns) {
    const int64_t back_by_ns = BackByNs(arrival_ns, deadline_ns);
    const bool is_telling = 2 * (now_ns - arrival_ns) >= back_by_ns - arrival_ns;
    if (is_telling && !IsLate(arrival_ns, deadline_ns, now_ns)) {
      share_ = std::max(0.0, share_ - kStep / kInTimeForOneLate);
    }
  }

  // Such a request, which was let in since it was foreseen to be in time, ends at `now_ns`, with or
  // without an answer. If it still had time then, its end says nothing.
  void NoteEnd(int64_t arrival_ns, int64_t deadline_ns, int64_t now_ns) {
    if (IsLate(arrival_ns, deadline_ns, now_ns)) share_ = std::min(kMostShare, share_ + kStep);
  }

 private:
  static constexpr double kMostShare = 0.5;
  static constexpr double kStep = 1.0 / 512;
  static constexpr double kInTimeForOneLate = 19;
  static constexpr int64_t kLeastAnswerNs = 200'000;

  // The way of an answer. The longer a client waits at most, the less a little room matters to it.
  static int64_t AnswerNs(int64_t whole_ns) { return std::max(kLeastAnswerNs, whole_ns / 20); }

  // An answer that leaves at `now_ns` is too late for the client.
  static bool IsLate(int64_t arrival_ns, int64_t deadline_ns, int64_t now_ns) {
    return now_ns > deadline_ns - AnswerNs(deadline_ns - arrival_ns);
  }

  double share_ = 0;
};

}  // namespace mpsd
