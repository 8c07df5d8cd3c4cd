// panels: the layout of the matrices that FloatPanels and Int8Panels multiply by.
//
// A product of few rows takes as long as reading the matrix. So the matrix is cut into panels of
// columns, in the order of use. Rows are cut into tiles: a tile's sums stay in registers.
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
// These rows pass all panels first, and stay in the core's cache.
inline constexpr int64_t kPassRows = 192;
// Lines that are fetched ahead of the sums.
inline constexpr int64_t kLinesAhead = 64;

// A processor fetches a line at once.
template <typename Number>
struct alignas(64) PanelLine {
  static constexpr int64_t kCount = 64 / sizeof(Number);
  Number numbers[kCount] = {};
};

template <typename Number>
using PanelLines = std::vector<PanelLine<Number>>;

constexpr int64_t UnitsOf(int64_t count, int64_t unit) { return (count + unit - 1) / unit; }

// The last panel may be narrower.
constexpr int64_t PanelCount(int64_t columns) { return UnitsOf(columns, kPanelColumns); }

// Calls `tile` with each tile's first row and its rows. Tiles are few, and nearly equal.
template <typename Tile>
void ForEachTile(int64_t rows, const Tile& tile) {
  const int64_t tiles = UnitsOf(rows, kTileRows);
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t first = rows * i / tiles;
    tile(first, rows * (i + 1) / tiles - first);
  }
}

// Whether this processor has AVX2 and FMA, of x86-64. Thread-safe.
bool HasPanelProducts();

// Whether libtorch's product is faster here, because it uses AVX-512. Thread-safe.
bool HasWiderProducts();

}  // namespace mpsd
