// layers: linear maps and norms, with their weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "worker/model/encoder/config/activation.h"
#include "worker/model/encoder/weights/encoder_weights.h"
#include "worker/model/products/float_panels.h"
#include "worker/model/products/int8_panels.h"

namespace mpsd {

// x W + b for rows of x. W lies in panels if EncoderWeights::products() says so, otherwise as K ×
// N: in libtorch 8 % faster than the file's N × K at 16 rows. Constant, so thread-safe.
class Linear {
 public:
  Linear() = default;

  // The weight is [to, from], the bias [to].
  Linear(EncoderWeights* weights, const at::Tensor& weight, at::Tensor bias);

  // Takes NAME.weight and NAME.bias; with `whole`, outside the encoder.
  static Linear Take(EncoderWeights* weights, const std::string& name, int64_t from, int64_t to,
                     bool whole = false, bool has_bias = true);

  // Takes several maps of the same rows as one, with results side by side. A part has a name and
  // the width of its result.
  static Linear TakeJoined(EncoderWeights* weights, int64_t from,
                           const std::vector<std::pair<std::string, int64_t>>& parts,
                           bool has_bias = true);

  // A new tensor, [rows, to].
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  int64_t to_ = 0;
  at::Tensor weight_;  // [from, to], only for libtorch's product
  at::Tensor bias_;    // likewise
  std::unique_ptr<const FloatPanels> float_panels_;
  std::unique_ptr<const Int8Panels> int8_panels_;
};

// Brings each row to mean 0 and variance 1, then scales and shifts it. A norm of squares brings the
// row to a mean square of 1, then scales it. Constant, so thread-safe.
class Norm {
 public:
  Norm() = default;

  // As Linear::Take().
  static Norm Take(EncoderWeights* weights, const std::string& name, int64_t size, double epsilon,
                   bool whole = false, bool has_bias = true);

  // With `counts_from_one` the file holds the scale minus 1, and the scale is kept in float.
  static Norm TakeOfSquares(EncoderWeights* weights, const std::string& name, int64_t size,
                            double epsilon, bool counts_from_one);

  // A new tensor of x's shape and type.
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  at::Tensor weight_;
  at::Tensor bias_;  // undefined: none
  double epsilon_ = 0;
  bool is_of_squares_ = false;
};

// For more rows a cpu computes a gelu in blocks.
inline constexpr int64_t kGeluRows = 128;

// A softmax works on each row, others on each element. May write to `x`.
at::Tensor Activate(Activation activation, at::Tensor x);

// The second half of each row, times the activation of the first half.
at::Tensor ActivateGate(Activation activation, const at::Tensor& x);

}  // namespace mpsd
