// Int8Panels: x W + b with the weights in 8 bits.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/model/products/panels.h"

namespace mpsd {

// A matrix in whole numbers of 8 bits, from -127 to 127, each column with a scale of its own, in
// panels, with its bias in float: a quarter of the memory. In a product each row of x becomes whole
// numbers with a scale of its own, up to 32767 where the sums of such rows fit 32 bits and less
// where they do not; the sums are exact. So a row's answer depends on the row alone, as it does in
// float, and nothing is calibrated. Constant after construction, so thread-safe.
class Int8Panels {
 public:
  // Of a file's weight [to, from] and bias [to]. A column with a number that is not finite gives
  // NaNs.
  Int8Panels(const float* weight, const float* bias, int64_t to, int64_t from);

  // y [rows, to] = x [rows, from] W + b. A row of x with a number that is not finite has an answer
  // of NaNs. Runs on so many threads at most. REQUIRES: HasPanelProducts().
  void Multiply(const float* x, int64_t rows, int threads, float* y) const;

  uint64_t bytes() const;  // that the matrix takes

 private:
  // Rows of x as the panels read them. Lives for one pass.
  struct Rounded;
  void Round(const float* x, int64_t rows, Rounded* rounded) const;
  void MultiplyPanel(int64_t panel, const Rounded& x, int64_t rows, float* y) const;
  int64_t depth() const { return UnitsOf(from_, kDeep); }  // lines of a panel

  static constexpr int64_t kDeep = PanelLine<int8_t>::kCount / kPanelColumns;  // rows of W a line

  const int64_t to_;
  const int64_t from_;
  const float largest_;        // that a number of x becomes
  std::vector<float> bias_;    // as wide as the panels
  std::vector<float> scales_;  // the same
  PanelLines<int8_t> lines_;   // [panel][depth]; in a line two rows of W, column by column, twice
};

}  // namespace mpsd
