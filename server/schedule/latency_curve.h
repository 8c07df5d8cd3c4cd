// LatencyCurve: how long a model's batches take, by their rows, as far as it was seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mpsd {

// Learned from completed batches of one shape, and read by a scheduler and by the admission of
// requests. Beside a request's path: each batch is noted once. Owned by ShapeCurves.
// Thread-compatible: guarded by the pool's mutex. It reads no clock.
//
//   ns │                     ╭── beyond the largest batch seen: the slope of all that is known
//      │               ●─────
//      │        ●──────      between two that were seen: a straight line
//      │   ●────
//      │  ╱ below the smallest: in proportion to the rows at least
//      └──┴────┴──────┴──── rows
//
// The curve never falls: where a larger batch was seen to take less time than a smaller one, both
// take their mean. It follows what changes within some sixteen batches of a size. It forgets sizes
// that do not run, but for those that serve more rows a second than all smaller ones. One batch
// that hangs moves it little, but a model that has become ten times slower is known so after ten.
// The first batch of a size does not count, unless nothing else is known.
class LatencyCurve {
 public:
  // A batch of `rows` rows took `took_ns`. REQUIRES: 1 <= rows <= kMaxBatchRows, took_ns >= 0.
  void Note(uint32_t rows, int64_t took_ns);

  // False until a batch was noted. REQUIRED by all that follow.
  bool known() const { return !points_.empty(); }

  // How long a batch of `rows` rows takes: on average, and seldom more than. REQUIRES: rows >= 1.
  int64_t MeanNs(uint32_t rows) const;
  int64_t LateNs(uint32_t rows) const { return Late(MeanNs(rows)); }

  // What a batch of `rows` rows may take at best: of a size beyond all that were seen as much as
  // the largest of them, since the curve never falls; else what it takes on average.
  int64_t LeastNs(uint32_t rows) const;

  // The most rows, of `max_rows` at most, whose batch seldom takes longer than `within_ns`; 0 when
  // a batch of one row does.
  uint32_t RowsWithin(int64_t within_ns, uint32_t max_rows) const;

 private:
  // Batches of about the same size: exactly the same up to 8 rows, a quarter of an octave beyond.
  static constexpr size_t kSizes = 36;

  struct Size {
    bool is_prepared = false;  // a batch was noted before
    double weight = 0;         // of what was noted; the larger, the slower the mean moves
    double rows = 0;           // the mean
    double ns = 0;             // the mean
  };
  struct Point {
    double rows = 0;
    double ns = 0;
  };

  static size_t SizeOf(uint32_t rows);
  void Fade(Size* noted, double took_ns);
  void NoteSpread(double took_ns, double mean_ns);
  void Fit();
  int64_t Late(int64_t mean_ns) const;

  std::array<Size, kSizes> sizes_;
  std::vector<Point> points_;  // by rows; neither rows nor ns fall
  double slope_ = 0;           // from the first point to the last, in ns a row
  double spread_ = 0;  // the mean distance of batches from the mean of their size, as a share
};

// There is a curve, and a batch was noted in it. Pure.
inline bool IsKnown(const LatencyCurve* curve) { return curve != nullptr && curve->known(); }

}  // namespace mpsd
