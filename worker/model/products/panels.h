// panels: how the matrices lie that FloatPanels and Int8Panels multiply by.
//
// A product of few rows takes as long as it takes to read the matrix, so the numbers of a matrix
// lie in the order in which they are needed: columns in panels of kPanelColumns, and each panel a
// sequence of lines of 64 bytes. The rows of a product are cut into tiles, so that the sums of a
// tile and a panel stay in registers.
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
// Rows that pass all panels before the next ones do, so that they stay in the cache of the core
// that computes them.
inline constexpr int64_t kPassRows = 192;
// So many lines ahead of the sums a panel is fetched.
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

// The panels of a matrix of so many columns; the last one may be narrower.
constexpr int64_t PanelCount(int64_t columns) { return UnitsOf(columns, kPanelColumns); }

// Calls `tile` with the first row and the number of rows of each tile of `rows`: as few tiles as
// can be, and of nearly equal size.
template <typename Tile>
void ForEachTile(int64_t rows, const Tile& tile) {
  const int64_t tiles = UnitsOf(rows, kTileRows);
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t first = rows * i / tiles;
    tile(first, rows * (i + 1) / tiles - first);
  }
}

// Whether this processor has the instructions that the products are made of: those of AVX2 and
// FMA, of x86-64. Thread-safe.
bool HasPanelProducts();

// Whether libtorch's own product is the faster one here, with instructions that are not used here:
// those of AVX-512. Thread-safe.
bool HasWiderProducts();

}  // namespace mpsd
