#include "worker/model/products/int8_panels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "proto/base/check.h"
#include "worker/model/products/team.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mpsd {
namespace {

constexpr float kLargestWeight = 127;
constexpr int64_t kLargestSum = std::numeric_limits<int32_t>::max();

float LargestOfRow(int64_t from) {
  const int64_t fitting = kLargestSum / (static_cast<int64_t>(kLargestWeight) * from);
  return static_cast<float>(std::min<int64_t>(fitting, std::numeric_limits<int16_t>::max()));
}

struct TileOfInts {
  const int16_t* x = nullptr;
  int64_t stride = 0;  // numbers in a row of x
  const PanelLine<int8_t>* lines = nullptr;
  int64_t depth = 0;
  int32_t* sums = nullptr;  // [rows, kPanelColumns]
};

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) inline __m256i Widened(const int8_t* numbers) {
  return _mm256_cvtepi8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(numbers)));
}

template <int kRows>
__attribute__((target("avx2,fma"))) void SumInts(const TileOfInts& tile) {
  __m256i left[kRows];
  __m256i right[kRows];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) left[row] = right[row] = _mm256_setzero_si256();
  // With more than two rows of W in a step, the sums would not stay in registers.
  const int8_t* numbers = tile.lines->numbers;
  const int8_t* const end = numbers + tile.depth * PanelLine<int8_t>::kCount;
  const int16_t* two = tile.x;
  for (; numbers < end; numbers += 2 * kPanelColumns, two += 2) {
    const __m256i first = Widened(numbers);
    const __m256i second = Widened(numbers + kPanelColumns);
    _mm_prefetch(reinterpret_cast<const char*>(numbers) + kLinesAhead * 64, _MM_HINT_T0);
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      int32_t both = 0;
      std::memcpy(&both, two + row * tile.stride, sizeof(both));
      const __m256i x = _mm256_set1_epi32(both);
      left[row] = _mm256_add_epi32(left[row], _mm256_madd_epi16(x, first));
      right[row] = _mm256_add_epi32(right[row], _mm256_madd_epi16(x, second));
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    auto* const sums = reinterpret_cast<__m256i*>(tile.sums + row * kPanelColumns);
    _mm256_storeu_si256(sums, left[row]);
    _mm256_storeu_si256(sums + 1, right[row]);
  }
}

// NaN or infinity if a number is not finite.
__attribute__((target("avx2,fma"))) float LargestOf(const float* x, int64_t count) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  __m256 largest = _mm256_setzero_ps();
  __m256 spoilt = _mm256_setzero_ps();
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 numbers = _mm256_loadu_ps(x + i);
    largest = _mm256_max_ps(largest, _mm256_andnot_ps(sign, numbers));
    spoilt = _mm256_fmadd_ps(numbers, _mm256_setzero_ps(), spoilt);  // NaN stays NaN
  }
  float of_lane[8];
  _mm256_storeu_ps(of_lane, _mm256_add_ps(largest, spoilt));
  float result = 0;
  for (; i < count; ++i) of_lane[i % 8] = std::max(of_lane[i % 8], std::fabs(x[i])) + 0 * x[i];
  for (const float number : of_lane) result = std::max(result, number) + 0 * number;
  return result;
}

// Leaves the rest of `rounded` alone.
__attribute__((target("avx2,fma"))) void RoundRow(const float* x, int64_t count, float inverse,
                                                  int16_t* rounded) {
  const __m256 factor = _mm256_set1_ps(inverse);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i whole = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i), factor));
    const __m128i packed =
        _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(rounded + i), packed);
  }
  for (; i < count; ++i) rounded[i] = static_cast<int16_t>(std::nearbyint(x[i] * inverse));
}
#else
template <int kRows>
void SumInts(const TileOfInts&) {
  MPSD_CHECK(HasPanelProducts());
}
float LargestOf(const float*, int64_t) { return 0; }
void RoundRow(const float*, int64_t, float, int16_t*) {}
#endif

constexpr void (*kIntSums[])(const TileOfInts&) = {SumInts<1>, SumInts<2>, SumInts<3>,
                                                   SumInts<4>, SumInts<5>, SumInts<6>};
static_assert(std::size(kIntSums) == kTileRows);

// NaN if a number is not finite.
float ScaleOf(const float* weight, int64_t count) {
  float largest = 0;
  float spoilt = 0;
  for (int64_t k = 0; k < count; ++k) {
    largest = std::max(largest, std::fabs(weight[k]));
    spoilt += 0 * weight[k];  // NaN if the number is not finite
  }
  return largest / kLargestWeight + spoilt;
}

}  // namespace

struct Int8Panels::Rounded {
  std::vector<int16_t> numbers;  // [rows, depth * kDeep]
  std::vector<float> scales;     // one for each row
};

Int8Panels::Int8Panels(const float* weight, const float* bias, int64_t to, int64_t from)
    : to_(to),
      from_(from),
      largest_(LargestOfRow(from)),
      bias_(bias, bias + to),
      scales_(static_cast<size_t>(UnitsOf(to, kPanelColumns) * kPanelColumns)),
      lines_(static_cast<size_t>(UnitsOf(to, kPanelColumns) * depth())) {
  bias_.resize(scales_.size());
  for (int64_t column = 0; column < to; ++column) {
    const float scale = ScaleOf(weight + column * from, from);
    scales_[static_cast<size_t>(column)] = scale;
    PanelLine<int8_t>* const panel = lines_.data() + column / kPanelColumns * depth();
    for (int64_t k = 0; scale > 0 && k < from; ++k) {
      const int64_t place = (k % kDeep / 2 * kPanelColumns + column % kPanelColumns) * 2 + k % 2;
      panel[k / kDeep].numbers[place] = static_cast<int8_t>(std::clamp(
          std::nearbyint(weight[column * from + k] / scale), -kLargestWeight, kLargestWeight));
    }
  }
}

uint64_t Int8Panels::bytes() const { return lines_.size() * sizeof(lines_[0]); }

void Int8Panels::Round(const float* x, int64_t rows, Rounded* rounded) const {
  const int64_t width = depth() * kDeep;
  rounded->numbers.assign(static_cast<size_t>(rows * width), 0);
  rounded->scales.resize(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    const float largest = LargestOf(x + row * from_, from_);
    float& scale = rounded->scales[static_cast<size_t>(row)];
    scale = std::isfinite(largest) ? largest / largest_ : std::numeric_limits<float>::quiet_NaN();
    if (!(scale > 0)) continue;
    const float inverse = std::min(largest_ / largest, std::numeric_limits<float>::max());
    RoundRow(x + row * from_, from_, inverse, rounded->numbers.data() + row * width);
  }
}

void Int8Panels::MultiplyPanel(int64_t panel, const Rounded& x, int64_t rows, float* y) const {
  const int64_t column = panel * kPanelColumns;
  const int64_t columns = std::min(kPanelColumns, to_ - column);
  const int64_t width = depth() * kDeep;
  const float* const scales = scales_.data() + column;
  const float* const bias = bias_.data() + column;
  int32_t sums[kTileRows * kPanelColumns];
  ForEachTile(rows, [&](int64_t first, int64_t count) {
    kIntSums[count - 1](
        {x.numbers.data() + first * width, width, lines_.data() + panel * depth(), depth(), sums});
    for (int64_t row = 0; row < count; ++row) {
      const float scale = x.scales[static_cast<size_t>(first + row)];
      float* const target = y + (first + row) * to_ + column;
      for (int64_t i = 0; i < columns; ++i) {
        target[i] =
            static_cast<float>(sums[row * kPanelColumns + i]) * (scale * scales[i]) + bias[i];
      }
    }
  });
}

void Int8Panels::Multiply(const float* x, int64_t rows, int threads, float* y) const {
  Rounded rounded;
  for (int64_t first = 0; first < rows; first += kPassRows) {
    const int64_t count = std::min(kPassRows, rows - first);
    Round(x + first * from_, count, &rounded);
    RunInTeam(TeamFor(threads, count * from_ * to_), UnitsOf(to_, kPanelColumns),
              [&](int64_t panel) { MultiplyPanel(panel, rounded, count, y + first * to_); });
  }
}

}  // namespace mpsd
