// layers: the two kinds of map that an encoder is made of, with their weights.
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

// x W + b for rows of x. The weights lie as the product reads them: in panels where those pay (as
// EncoderWeights::products() says), else K × N, which is 8 % faster in libtorch than the file's
// N × K at 16 rows, and costs nothing at many. Constant after construction, so thread-safe.
class Linear {
 public:
  Linear() = default;

  // Of a weight [to, from] and a bias [to] that were made of what `weights` hands out.
  Linear(EncoderWeights* weights, const at::Tensor& weight, at::Tensor bias);

  // Takes NAME.weight and NAME.bias of the encoder, or from outside of it with `whole`.
  static Linear Take(EncoderWeights* weights, const std::string& name, int64_t from, int64_t to,
                     bool whole = false, bool has_bias = true);

  // Takes several maps of the same rows as one, whose results lie side by side: NAME.weight and
  // NAME.bias of the encoder for each name, with the width of what it gives.
  static Linear TakeJoined(EncoderWeights* weights, int64_t from,
                           const std::vector<std::pair<std::string, int64_t>>& parts,
                           bool has_bias = true);

  // A new tensor, [rows, to].
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  int64_t to_ = 0;
  at::Tensor weight_;  // [from, to], of libtorch's product alone
  at::Tensor bias_;    // the same
  std::unique_ptr<const FloatPanels> float_panels_;
  std::unique_ptr<const Int8Panels> int8_panels_;
};

// Each row of x brought to mean 0 and variance 1, then scaled and shifted; or to a mean square of
// 1, then scaled. Constant after construction, so thread-safe.
class Norm {
 public:
  Norm() = default;

  // Takes NAME.weight and NAME.bias of the encoder, or from outside of it with `whole`.
  static Norm Take(EncoderWeights* weights, const std::string& name, int64_t size, double epsilon,
                   bool whole = false, bool has_bias = true);

  // Takes NAME.weight of the encoder, of a norm of squares. With `counts_from_one` the file has
  // what the scale is above 1, and the scale is kept in float.
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

// The most rows of which a cpu computes a gelu in one piece.
inline constexpr int64_t kGeluRows = 128;

// The activation of each element, of each row for a softmax. May write to `x`, which the caller
// gives up.
at::Tensor Activate(Activation activation, at::Tensor x);

// The second half of each row of x, each number by the activation of the one in the first half.
at::Tensor ActivateGate(Activation activation, const at::Tensor& x);

}  // namespace mpsd
