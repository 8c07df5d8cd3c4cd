#include "worker/model/products/float_panels.h"

#include <algorithm>
#include <iterator>

#include "proto/base/check.h"
#include "worker/model/products/team.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mpsd {
namespace {

struct TileOfFloats {
  const float* x = nullptr;
  int64_t from = 0;
  const PanelLine<float>* lines = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;
  int64_t stride = 0;  // numbers in a row of y
  // The next panel's part, one line for every `next_every` of this one. Otherwise a panel's first
  // tile would wait for memory, and the others leave memory idle.
  const PanelLine<float>* next = nullptr;
  int64_t next_every = 1;
};

#if defined(__x86_64__)
template <int kRows>
__attribute__((target("avx2,fma"))) void SumFloats(const TileOfFloats& tile) {
  __m256 left[kRows];
  __m256 right[kRows];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    left[row] = _mm256_loadu_ps(tile.bias);
    right[row] = _mm256_loadu_ps(tile.bias + 8);
  }
  const PanelLine<float>* next = tile.next;
  int64_t next_at = 0;
  for (int64_t k = 0; k < tile.from; ++k) {
    if (k == next_at) {
      _mm_prefetch(reinterpret_cast<const char*>(next++), _MM_HINT_T1);
      next_at += tile.next_every;
    }
    const float* const line = tile.lines[k].numbers;
    const __m256 first = _mm256_load_ps(line);
    const __m256 second = _mm256_load_ps(line + 8);
    _mm_prefetch(reinterpret_cast<const char*>(tile.lines + k + kLinesAhead), _MM_HINT_T0);
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      const __m256 x = _mm256_broadcast_ss(tile.x + row * tile.from + k);
      left[row] = _mm256_fmadd_ps(x, first, left[row]);
      right[row] = _mm256_fmadd_ps(x, second, right[row]);
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    _mm256_storeu_ps(tile.y + row * tile.stride, left[row]);
    _mm256_storeu_ps(tile.y + row * tile.stride + 8, right[row]);
  }
}
#else
template <int kRows>
void SumFloats(const TileOfFloats&) {
  MPSD_CHECK(HasPanelProducts());
}
#endif

constexpr void (*kFloatSums[])(const TileOfFloats&) = {SumFloats<1>, SumFloats<2>, SumFloats<3>,
                                                       SumFloats<4>, SumFloats<5>, SumFloats<6>};
static_assert(std::size(kFloatSums) == kTileRows);

}  // namespace

bool FloatPanels::Pay() { return HasPanelProducts() && !HasWiderProducts(); }

FloatPanels::FloatPanels(const float* weight, const float* bias, int64_t to, int64_t from)
    : to_(to),
      from_(from),
      bias_(static_cast<size_t>(PanelCount(to) * kPanelColumns)),
      lines_(static_cast<size_t>(PanelCount(to) * from)) {
  PackPanels(weight, bias, to, from, lines_.data(), bias_.data());
}

void PackPanels(const float* weight, const float* bias, int64_t to, int64_t from,
                PanelLine<float>* lines, float* padded_bias) {
  std::fill_n(lines, PanelCount(to) * from, PanelLine<float>());
  std::fill_n(std::copy_n(bias, to, padded_bias), PanelCount(to) * kPanelColumns - to, 0.0F);
  for (int64_t column = 0; column < to; ++column) {
    PanelLine<float>* const panel = lines + column / kPanelColumns * from;
    for (int64_t k = 0; k < from; ++k) {
      panel[k].numbers[column % kPanelColumns] = weight[column * from + k];
    }
  }
}

void LentFloatPanels::MultiplyPanel(int64_t panel, const float* x, int64_t rows, float* y) const {
  const int64_t column = panel * kPanelColumns;
  const int64_t columns = std::min(kPanelColumns, to - column);
  float beside[kTileRows * kPanelColumns];
  ForEachTile(rows, [&](int64_t first, int64_t count) {
    TileOfFloats tile{x + first * from,        from, lines + panel * from, bias + column,
                      y + first * to + column, to};
    tile.next = lines + (panel + 1) * from + from * first / rows;
    tile.next_every = UnitsOf(rows, kTileRows);
    const bool is_whole = columns == kPanelColumns;
    if (!is_whole) {
      tile.y = beside;
      tile.stride = kPanelColumns;
    }
    kFloatSums[count - 1](tile);
    for (int64_t row = 0; !is_whole && row < count; ++row) {
      std::copy_n(beside + row * kPanelColumns, columns, y + (first + row) * to + column);
    }
  });
}

void LentFloatPanels::Multiply(const float* x, int64_t rows, int threads, float* y) const {
  for (int64_t first = 0; first < rows; first += kPassRows) {
    const int64_t count = std::min(kPassRows, rows - first);
    RunInTeam(TeamFor(threads, count * from * to), PanelCount(to), [&](int64_t panel) {
      MultiplyPanel(panel, x + first * from, count, y + first * to);
    });
  }
}

}  // namespace mpsd
