// panels: the layout of the matrices that FloatPanels and Int8Panels multiply by.
//
// A product of few rows takes as long as reading the matrix. So the numbers of a matrix lie in the
// order in which they are needed: columns in panels of kPanelColumns, and each panel a sequence of
// lines of 64 bytes. The rows of a product are cut into tiles, so that the sums of a tile and a
// panel stay in registers.
//
//                 kPanelColumns
//                 ┌──┬──┬──┬──┐
//                 │  │▓▓│  │  │  a panel of the matrix, line after line
//                 └──┴──┴──┴──┘
//   kTileRows ▒▒▒▒   ██          the sums of a tile of rows and a panel
#pragma once

#include <cstdint>
#include <vector>

namespace mpsd {

inline constexpr int64_t kPanelColumns = 16;
inline constexpr int64_t kTileRows = 6;
// This many rows pass all panels before the next rows do, so that the rows stay in the cache of the
// core that computes them.
inline constexpr int64_t kPassRows = 192;
// A panel is fetched this many lines ahead of the sums.
inline constexpr int64_t kLinesAhead = 64;

// As much as a processor fetches at once.
template <typename Number>
struct alignas(64) PanelLine {
  static constexpr int64_t kCount = 64 / sizeof(Number);
  Number numbers[kCount] = {};
};

template <typename Number>
using PanelLines = std::vector<PanelLine<Number>>;

// How many units of `unit` hold `count`.
constexpr int64_t UnitsOf(int64_t count, int64_t unit) { return (count + unit - 1) / unit; }

// How many panels a matrix with `columns` columns has; the last one may be narrower.
constexpr int64_t PanelCount(int64_t columns) { return UnitsOf(columns, kPanelColumns); }

// Calls `tile` with the first row and the number of rows of each tile of `rows`: as few tiles as
// possible, of nearly equal size.
template <typename Tile>
void ForEachTile(int64_t rows, const Tile& tile) {
  const int64_t tiles = UnitsOf(rows, kTileRows);
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t first = rows * i / tiles;
    tile(first, rows * (i + 1) / tiles - first);
  }
}

// Whether this processor has the instructions that the products use: AVX2 and FMA, of x86-64.
// Thread-safe.
bool HasPanelProducts();

// Whether libtorch's own product is faster here, because it uses AVX-512 and the products here do
// not. Thread-safe.
bool HasWiderProducts();

}  // namespace mpsd
