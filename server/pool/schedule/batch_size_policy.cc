#include "server/pool/schedule/batch_size_policy.h"

#include <algorithm>

namespace mpsd {
namespace {

constexpr double kWorthGivingUp = 1.25;
// Curves err by more than this difference.
constexpr double kNearly = 0.95;

// Counted rows a nanosecond of batches with `rows` rows, if `served` of them count.
double PaceOf(const LatencyCurve& curve, uint32_t rows, double served) {
  return served / static_cast<double>(std::max<int64_t>(1, curve.MeanNs(rows)));
}

// Rows of the line with a deadline at `at_ns` or later.
double RowsAliveAt(const LineView& line, int64_t at_ns) {
  if (at_ns <= line.head_deadline_ns) return line.rows;
  if (at_ns > line.tail_deadline_ns) return 0;
  const auto spread_ns = static_cast<double>(line.tail_deadline_ns - line.head_deadline_ns);
  return line.rows * static_cast<double>(line.tail_deadline_ns - at_ns) / std::max(1.0, spread_ns);
}

// The choice for the head's rank alone.
SizeChoice ChooseForHead(const LineView& line, uint32_t max_rows, int64_t now_ns) {
  const LatencyCurve& curve = *line.curve;
  const uint32_t wanted = std::min(line.rows, max_rows);
  const int64_t head_left_ns = line.head_answer_deadline_ns - now_ns;
  const uint32_t borne = curve.RowsWithin(head_left_ns, max_rows);
  const SizeChoice as_borne = {std::max(line.head_rows, borne)};
  const bool is_alone = line.all_rows() == line.head_rows;
  // If the wait is shorter than the answer's time, it says nothing about the answer.
  const bool waits_for_less = line.head_answer_deadline_ns > line.head_deadline_ns;
  if (borne >= wanted || is_alone || waits_for_less) return as_borne;
  if (curve.MeanNs(line.head_rows) > head_left_ns) return {0, line.head_deadline_ns, line.rank};
  const double pace = PaceOf(curve, as_borne.rows, as_borne.rows);
  const auto left_ns = static_cast<double>(line.tail_deadline_ns - now_ns);
  if (line.rows <= pace * left_ns) return as_borne;
  SizeChoice best = as_borne;
  double best_pace = pace * kWorthGivingUp;
  for (uint32_t rows = as_borne.rows; rows < wanted;) {
    rows = std::min(2 * rows, wanted);
    const int64_t until_ns = now_ns + curve.LateNs(rows);
    const double served = std::min<double>(rows, RowsAliveAt(line, until_ns));
    const double larger_pace = PaceOf(curve, rows, served);
    if (larger_pace <= best_pace) continue;
    best_pace = larger_pace;
    best = {0, until_ns - 1, line.rank};
  }
  return best;
}

}  // namespace

SizeChoice ChooseSize(const LineView& line, uint32_t max_rows, int64_t now_ns) {
  const SizeChoice choice = ChooseForHead(line, max_rows, now_ns);
  const uint32_t rows = std::min(choice.rows, line.all_rows());
  const bool later_fill_it = choice.drop_until_ns == 0 && rows > line.rows;
  if (!later_fill_it || line.later_answer_deadline_ns > line.later_deadline_ns) return choice;
  const int64_t until_ns = now_ns + line.curve->LateNs(rows);
  if (line.later_deadline_ns >= until_ns) return choice;
  return {0, until_ns - 1, line.later_rank};
}

uint32_t PayingRows(const LatencyCurve& curve, uint32_t max_rows) {
  double best_pace = 0;
  for (uint32_t rows = max_rows; rows > 0; rows /= 2) {
    best_pace = std::max(best_pace, PaceOf(curve, rows, rows));
  }
  uint32_t paying = max_rows;
  for (uint32_t rows = max_rows; rows > 0; rows /= 2) {
    if (PaceOf(curve, rows, rows) >= kNearly * best_pace) paying = rows;
  }
  return paying;
}

}  // namespace mpsd
