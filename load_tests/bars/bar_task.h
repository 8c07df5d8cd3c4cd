// BarTask: one operator with inputs of one shape. Pure.
#pragma once

#include <string>
#include <vector>

#include "proto/base/shape.h"
#include "proto/link/enum_names.h"

namespace mpsd::load {

// kAddmm is kLinear as a worker's graphs have it on mps. kSdpa is libtorch's own attention,
// kAttention the same written out.
enum class BarOperator { kLinear, kAddmm, kLayerNorm, kSdpa, kAttention, kMlp, kConv };

std::vector<BarOperator> AllBarOperators();

// Input and output are [rows, length, width]; for kConv [rows, channels, pixels of a square].
struct BarTask {
  BarOperator kind = BarOperator::kLinear;
  Dims dims;
  int depth = 1;  // times that the operator is applied, with the same weights
};

// One small task for each operator.
std::vector<BarTask> OneShapeEach(const std::vector<BarOperator>& kinds);

// Several small tasks for each operator, with different shapes.
std::vector<BarTask> ManyShapesEach(const std::vector<BarOperator>& kinds);

// Large enough to show how lanes and processes scale: eight layers 2048 wide, with 64 rows.
BarTask LargeTask(BarOperator kind);

// "linear 2x16x64".
std::string Describe(const BarTask& task);

}  // namespace mpsd::load

template <>
inline constexpr std::array<std::string_view, 7> mpsd::kNamesOf<mpsd::load::BarOperator> = {
    "linear", "addmm", "layer_norm", "sdpa", "attention", "mlp", "conv"};
