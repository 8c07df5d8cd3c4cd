// BarTask: one operator with inputs of one shape, which a lane runs again and again. Pure.
#pragma once

#include <string>
#include <vector>

#include "proto/base/shape.h"
#include "proto/link/enum_names.h"

namespace mpsd::load {

// kAddmm is kLinear in the form that a worker's graphs use on mps. The attention of libtorch itself
// is kSdpa. The same written out is kAttention: two products of matrices, with a softmax between
// them.
enum class BarOperator { kLinear, kAddmm, kLayerNorm, kSdpa, kAttention, kMlp, kConv };

std::vector<BarOperator> AllBarOperators();

// The input is [rows, length, width]; for kConv it is [rows, channels, pixels of a square]. The
// output has the same shape.
struct BarTask {
  BarOperator kind = BarOperator::kLinear;
  Dims dims;
  int depth = 1;  // how often the operator is applied, each time with the same weights
};

// One small task for each of these operators.
std::vector<BarTask> OneShapeEach(const std::vector<BarOperator>& kinds);

// Several small tasks for each operator, with different shapes.
std::vector<BarTask> ManyShapesEach(const std::vector<BarOperator>& kinds);

// A task large enough to show how lanes and processes scale: eight layers 2048 wide, with 64 rows.
BarTask LargeTask(BarOperator kind);

// "linear 2x16x64", for people.
std::string Describe(const BarTask& task);

}  // namespace mpsd::load

template <>
inline constexpr std::array<std::string_view, 7> mpsd::kNamesOf<mpsd::load::BarOperator> = {
    "linear", "addmm", "layer_norm", "sdpa", "attention", "mlp", "conv"};
