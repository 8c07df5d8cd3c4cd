// FloatPanels: x W + b in float, for processors on which libtorch's product is slow.
//
// libtorch stores a matrix as [to, from]. It is copied once into panels, and each product reads
// only those:
//
//   weight, bias ── PackPanels ─▶ lines, padded bias ── LentFloatPanels::Multiply ─▶ y
//
// The lines belong to a FloatPanels, or to the caller of PackPanels(): a TorchScript graph keeps
// them as a constant (worker/model/torchscript/panel_linear.h).
#pragma once

#include <cstdint>
#include <vector>

#include "worker/model/products/panels.h"

namespace mpsd {

// A matrix in panels, with its bias, in memory that the caller owns. A value; thread-safe while
// nobody writes to that memory.
struct LentFloatPanels {
  const PanelLine<float>* lines = nullptr;  // [PanelCount(to)][from]
  const float* bias = nullptr;              // as wide as the panels
  int64_t to = 0;
  int64_t from = 0;

  // y [rows, to] = x [rows, from] W + b. Each number is summed in one order, whatever the number of
  // rows and threads, so a row has the same answer alone and beside others. Runs on at most
  // `threads` threads. REQUIRES: HasPanelProducts().
  void Multiply(const float* x, int64_t rows, int threads, float* y) const;

 private:
  // The columns of one panel, for `rows` rows.
  void MultiplyPanel(int64_t panel, const float* x, int64_t rows, float* y) const;
};

// Writes a weight [to, from] and a bias [to] to PanelCount(to) * from lines, and to PanelCount(to)
// * kPanelColumns numbers. Places beyond the matrix become 0. Pure except for that memory.
void PackPanels(const float* weight, const float* bias, int64_t to, int64_t from,
                PanelLine<float>* lines, float* padded_bias);

// A matrix in panels, with its bias. Takes as much memory as the matrix. Constant after
// construction, so thread-safe.
class FloatPanels {
 public:
  // Whether panels are faster here than libtorch: HasPanelProducts() and not HasWiderProducts().
  // Decision 0037 has the figures.
  static bool Pay();

  // Packs a file's weight [to, from] and bias [to].
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
