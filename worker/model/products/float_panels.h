// FloatPanels: x W + b in float, where libtorch's product is not made for the processor.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/model/encoder/products/panels.h"

namespace mpsd {

// A matrix in panels, with its bias. Takes as much memory as the matrix. Constant after
// construction, so thread-safe.
class FloatPanels {
 public:
  // Whether they are faster here than libtorch: where HasPanelProducts() and not
  // HasWiderProducts(). Decision 0037 has the figures.
  static bool Pay();

  // Of a file's weight [to, from] and bias [to].
  FloatPanels(const float* weight, const float* bias, int64_t to, int64_t from);

  // y [rows, to] = x [rows, from] W + b. Each number is summed up in one order, whatever the number
  // of rows and of threads: a row has the same answer alone and beside others. Runs on so many
  // threads at most. REQUIRES: HasPanelProducts().
  void Multiply(const float* x, int64_t rows, int threads, float* y) const;

 private:
  // Columns of one panel, for so many rows.
  void MultiplyPanel(int64_t panel, const float* x, int64_t rows, float* y) const;

  const int64_t to_;
  const int64_t from_;
  std::vector<float> bias_;  // as wide as the panels
  PanelLines<float> lines_;  // [panel][from], a line a row of W
};

}  // namespace mpsd
