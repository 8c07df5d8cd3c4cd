// Int8Panels: x W + b with the weights in 8 bits.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/model/products/panels.h"

namespace mpsd {

// A matrix of whole numbers from -127 to 127, with a scale for each column, and a bias in float. In
// a product each row of x becomes whole numbers with its own scale, up to 32767, or less where sums
// would not fit 32 bits. So sums are exact, a row's answer depends on the row alone, and nothing is
// calibrated. Constant, so thread-safe.
class Int8Panels {
 public:
  // The weight is [to, from]. A column with a number that is not finite gives NaNs.
  Int8Panels(const float* weight, const float* bias, int64_t to, int64_t from);

  // y [rows, to] = x [rows, from] W + b. A row with a number that is not finite gets NaNs.
  // REQUIRES: HasPanelProducts().
  void Multiply(const float* x, int64_t rows, int threads, float* y) const;

  uint64_t bytes() const;  // size of the matrix

 private:
  // Lives for one pass.
  struct Rounded;
  void Round(const float* x, int64_t rows, Rounded* rounded) const;
  void MultiplyPanel(int64_t panel, const Rounded& x, int64_t rows, float* y) const;
  int64_t depth() const { return UnitsOf(from_, kDeep); }  // lines in a panel

  static constexpr int64_t kDeep = PanelLine<int8_t>::kCount / kPanelColumns;  // W's rows in a line

  const int64_t to_;
  const int64_t from_;
  const float largest_;        // largest magnitude to which x is scaled
  std::vector<float> bias_;    // as wide as the panels
  std::vector<float> scales_;  // as wide as the panels
  PanelLines<int8_t> lines_;   // [panel][depth]; a line has two pairs of W's rows, each interleaved
};

}  // namespace mpsd
