// LatencyCurve: how long a model's batches take by their rows, as seen so far.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mpsd {

// Owned by ShapeCurves. Thread-compatible: its pool's mutex guards it.
//
//   ns │                     ╭── beyond the largest batch seen: the slope of all that is known
//      │               ●─────
//      │        ●──────      between two that were seen: a straight line
//      │   ●────
//      │  ╱ below the smallest: in proportion to the rows at least
//      └──┴────┴──────┴──── rows
//
// The curve never falls: if a larger batch took less time than a smaller one, both get their mean.
// It follows changes within some sixteen batches of a size. One batch that hangs moves it little.
// The first batch of a size counts only if nothing else is known.
class LatencyCurve {
 public:
  // REQUIRES: 1 <= rows <= kMaxBatchRows, took_ns >= 0.
  void Note(uint32_t rows, int64_t took_ns);

  // All that follow REQUIRE it.
  bool known() const { return !points_.empty(); }

  // The mean, and a time seldom exceeded. REQUIRES: rows >= 1.
  int64_t MeanNs(uint32_t rows) const;
  int64_t LateNs(uint32_t rows) const { return Late(MeanNs(rows)); }

  // The mean; for a size beyond all that were seen, the time of the largest of them.
  int64_t LeastNs(uint32_t rows) const;

  uint32_t MostRows() const { return static_cast<uint32_t>(points_.back().rows); }

  // The most rows whose batch seldom takes longer than `within_ns`; 0 if one row does.
  uint32_t RowsWithin(int64_t within_ns, uint32_t max_rows) const;

 private:
  // Exact up to 8 rows, then a quarter of an octave each.
  static constexpr size_t kSizes = 36;

  struct Size {
    bool is_prepared = false;  // a batch was noted before
    double weight = 0;         // the larger, the slower the mean moves
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
  double spread_ = 0;          // mean distance of batches from their size's mean, as a share
};

inline bool IsKnown(const LatencyCurve* curve) { return curve != nullptr && curve->known(); }

}  // namespace mpsd
