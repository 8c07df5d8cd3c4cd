#include "server/pool/schedule/latency_curve.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mpsd {
namespace {

constexpr uint32_t kExactRows = 8;
constexpr uint32_t kSizesPerOctave = 4;
// The mean is over this many batches: earlier ones fade.
constexpr double kMostWeight = 16;
// A batch counts as at most this multiple of the mean, so that one hang makes no new curve.
constexpr double kMostJump = 4;
constexpr double kSpreadShare = 1.0 / 16;
// Each batch fades what is known of all sizes, and what is nearly nothing is forgotten. So a size
// that was often slow is tried again some thousand batches later, and one that was slow once after
// a hundred. If batches take twice or half their former time, all sizes are tried again some ten
// batches later. A size that serves more rows a second than all smaller ones is kept. Otherwise
// admission would go by the smaller sizes, and no batch would show it again.
constexpr double kFading = 1.0 / 256;
constexpr double kFadingInSurprise = 0.7;
constexpr double kSurprise = 2;
constexpr double kLeastWeight = 0.5;
constexpr double kMostSpread = 0.5;
// Few batches exceed the mean by more than this many mean distances.
constexpr double kLateSpreads = 1;

}  // namespace

// Rows 1 … 8 have sizes 0 … 7; 9-10, 11-12, 13-14, 15-16 the next four; then 17-20, …
size_t LatencyCurve::SizeOf(uint32_t rows) {
  if (rows <= kExactRows) return rows - 1;
  uint32_t octave = 0;
  uint32_t first = kExactRows;
  while (rows > 2 * first) {
    first *= 2;
    ++octave;
  }
  const uint32_t quarter = (rows - first - 1) * kSizesPerOctave / first;
  return kExactRows + octave * kSizesPerOctave + quarter;
}

void LatencyCurve::Note(uint32_t rows, int64_t took_ns) {
  Size& size = sizes_[SizeOf(rows)];
  Fade(&size, static_cast<double>(took_ns));
  if (size.weight < kLeastWeight) {
    // The first batch of a size prepares what later ones use.
    const bool is_first = !std::exchange(size.is_prepared, true);
    size.weight = 0;
    if (is_first && known()) return;
  }
  auto ns = static_cast<double>(took_ns);
  if (size.weight > 0) NoteSpread(ns, size.ns);
  if (size.weight > 1) ns = std::min(ns, size.ns * kMostJump);
  size.weight = std::min(size.weight + 1, kMostWeight);
  size.rows += (rows - size.rows) / size.weight;
  size.ns += (ns - size.ns) / size.weight;
  Fit();
}

void LatencyCurve::Fade(Size* noted, double took_ns) {
  const bool surprises = noted->weight >= kLeastWeight &&
                         (took_ns > kSurprise * noted->ns || took_ns * kSurprise < noted->ns);
  double best_pace = 0;
  for (Size& size : sizes_) {
    if (size.weight < kLeastWeight) continue;
    if (surprises && &size != noted) size.weight *= kFadingInSurprise;
    size.weight = std::max(size.weight - kFading, 0.0);
    const double pace = size.rows / std::max(size.ns, 1.0);
    if (pace <= best_pace) continue;
    best_pace = pace;
    size.weight = std::max(size.weight, kLeastWeight);
  }
}

void LatencyCurve::NoteSpread(double took_ns, double mean_ns) {
  const double distance = std::abs(took_ns - mean_ns) / std::max(mean_ns, 1.0);
  spread_ += (std::min(distance, 1.0) - spread_) * kSpreadShare;
}

// The nearest curve that never falls: neighbours that would make it fall become one point.
void LatencyCurve::Fit() {
  std::array<Size, kSizes> fitted;
  size_t count = 0;
  for (const Size& size : sizes_) {
    if (size.weight < kLeastWeight) continue;
    Size next = size;
    while (count > 0 && fitted[count - 1].ns > next.ns) {
      const Size& before = fitted[--count];
      const double weight = before.weight + next.weight;
      next.rows = (before.rows * before.weight + next.rows * next.weight) / weight;
      next.ns = (before.ns * before.weight + next.ns * next.weight) / weight;
      next.weight = weight;
    }
    fitted[count++] = next;
  }
  points_.clear();
  for (size_t i = 0; i < count; ++i) points_.push_back({fitted[i].rows, fitted[i].ns});
  const Size& first = fitted[0];
  const Size& last = fitted[count - 1];
  slope_ = count < 2 ? 0 : (last.ns - first.ns) / std::max(last.rows - first.rows, 1e-9);
}

int64_t LatencyCurve::MeanNs(uint32_t rows) const {
  const Point& first = points_.front();
  const Point& last = points_.back();
  const double at = rows;
  double ns = 0;
  if (at >= last.rows) {
    ns = last.ns + slope_ * (at - last.rows);
  } else if (at <= first.rows) {
    const double in_proportion = first.ns * at / first.rows;
    const double as_it_rises = points_.size() < 2 ? 0 : first.ns - slope_ * (first.rows - at);
    ns = std::max(in_proportion, as_it_rises);
  } else {
    const auto above = std::upper_bound(points_.begin(), points_.end(), at,
                                        [](double x, const Point& p) { return x < p.rows; });
    const Point& below = *(above - 1);
    ns = below.ns + (above->ns - below.ns) * (at - below.rows) / (above->rows - below.rows);
  }
  return static_cast<int64_t>(ns);
}

int64_t LatencyCurve::LeastNs(uint32_t rows) const {
  const Point& last = points_.back();
  const bool is_beyond = rows > last.rows && sizes_[SizeOf(rows)].weight < kLeastWeight;
  return is_beyond ? static_cast<int64_t>(last.ns) : MeanNs(rows);
}

int64_t LatencyCurve::Late(int64_t mean_ns) const {
  const double late = 1 + kLateSpreads * std::min(spread_, kMostSpread);
  return static_cast<int64_t>(static_cast<double>(mean_ns) * late);
}

uint32_t LatencyCurve::RowsWithin(int64_t within_ns, uint32_t max_rows) const {
  if (LateNs(max_rows) <= within_ns) return max_rows;  // nearly always
  uint32_t within = 0;
  uint32_t beyond = max_rows;
  while (beyond - within > 1) {
    const uint32_t middle = within + (beyond - within) / 2;
    (LateNs(middle) <= within_ns ? within : beyond) = middle;
  }
  return within;
}

}  // namespace mpsd
