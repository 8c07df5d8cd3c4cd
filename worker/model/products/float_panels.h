// FloatPanels: x W + b in float, where libtorch's product is not made for the processor.
//
// A matrix of libtorch's lies column by column, [to, from]; here it is copied once into panels, and
// each product reads those alone:
//
//   weight, bias ── PackPanels ─▶ lines, padded bias ── LentFloatPanels::Multiply ─▶ y
//
// The lines belong to a FloatPanels, or to whoever called PackPanels(): a TorchScript graph keeps
// them as a constant (worker/model/torchscript/panel_linear.h).
#pragma once

#include <cstdint>
#include <vector>

#include "worker/model/products/panels.h"

namespace mpsd {

// A matrix in panels, with its bias, in memory of the caller's. A value; thread-safe while nobody
// writes to that memory.
struct LentFloatPanels {
  const PanelLine<float>* lines = nullptr;  // [PanelCount(to)][from]
  const float* bias = nullptr;              // as wide as the panels
  int64_t to = 0;
  int64_t from = 0;

  // y [rows, to] = x [rows, from] W + b. Each number is summed up in one order, whatever the number
  // of rows and of threads: a row has the same answer alone and beside others. Runs on so many
  // threads at most. REQUIRES: HasPanelProducts().
  void Multiply(const float* x, int64_t rows, int threads, float* y) const;

 private:
  // Columns of one panel, for so many rows.
  void MultiplyPanel(int64_t panel, const float* x, int64_t rows, float* y) const;
};

// Writes a weight [to, from] and a bias [to] to PanelCount(to) * from lines, and to PanelCount(to)
// * kPanelColumns numbers. What is beyond the matrix becomes 0. Pure but for that memory.
void PackPanels(const float* weight, const float* bias, int64_t to, int64_t from,
                PanelLine<float>* lines, float* padded_bias);

// A matrix in panels, with its bias. Takes as much memory as the matrix. Constant after
// construction, so thread-safe.
class FloatPanels {
 public:
  // Whether they are faster here than libtorch: where HasPanelProducts() and not
  // HasWiderProducts(). Decision 0037 has the figures.
  static bool Pay();

  // Of a file's weight [to, from] and bias [to].
  FloatPanels(const float* weight, const float* bias, int64_t to, int64_t from);

  // As LentFloatPanels has it.
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
