// FloatPanels: x W + b in float, for processors on which libtorch's product is slow.
//
//   weight, bias ── PackPanels ─▶ lines, padded bias ── LentFloatPanels::Multiply ─▶ y
//
// A FloatPanels owns its lines; a TorchScript graph keeps them as a constant
// (worker/model/torchscript/panel_linear.h).
#pragma once

#include <cstdint>
#include <vector>

#include "worker/model/products/panels.h"

namespace mpsd {

// The caller owns the memory. A value; thread-safe while nobody writes there.
struct LentFloatPanels {
  const PanelLine<float>* lines = nullptr;  // [PanelCount(to)][from]
  const float* bias = nullptr;              // as wide as the panels
  int64_t to = 0;
  int64_t from = 0;

  // y [rows, to] = x [rows, from] W + b. Sums have one order, so a row has the same answer alone
  // and beside others, with any number of threads. REQUIRES: HasPanelProducts().
  void Multiply(const float* x, int64_t rows, int threads, float* y) const;

 private:
  void MultiplyPanel(int64_t panel, const float* x, int64_t rows, float* y) const;
};

// Writes a weight [to, from] and a bias [to] to PanelCount(to) * from lines and PanelCount(to) *
// kPanelColumns numbers. Places beyond the matrix become 0. Pure except for that memory.
void PackPanels(const float* weight, const float* bias, int64_t to, int64_t from,
                PanelLine<float>* lines, float* padded_bias);

// Constant, so thread-safe.
class FloatPanels {
 public:
  // Whether panels are faster than libtorch here (decision 0037).
  static bool Pay();

  // The weight is [to, from], the bias [to].
  FloatPanels(const float* weight, const float* bias, int64_t to, int64_t from);

  // As LentFloatPanels::Multiply().
  void Multiply(const float* x, int64_t rows, int threads, float* y) const {
    LentFloatPanels{lines_.data(), bias_.data(), to_, from_}.Multiply(x, rows, threads, y);
  }

 private:
  const int64_t to_;
  const int64_t from_;
  std::vector<float> bias_;
  PanelLines<float> lines_;
};

}  // namespace mpsd
