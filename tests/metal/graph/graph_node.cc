#include "tests/metal/graph/graph_node.h"

#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace mpsd::standin {

GraphNode::GraphNode(std::optional<std::vector<int64_t>> sizes, at::ScalarType type) : type_(type) {
  const c10::InferenceMode inference;
  if (sizes.has_value()) {
    shape_ = at::zeros(*sizes, at::TensorOptions().dtype(type));
  }
}

GraphNode::GraphNode(at::Tensor constant)
    : constant_(std::move(constant)), type_(constant_.scalar_type()) {
  const c10::InferenceMode inference;
  shape_ = constant_;
}

GraphNode::GraphNode(std::vector<Node> inputs, Compute compute)
    : inputs_(std::move(inputs)), compute_(std::move(compute)) {
  const c10::InferenceMode inference;
  std::vector<at::Tensor> shapes;
  for (const Node& input : inputs_) shapes.push_back(input->shape_);
  const bool are_known = std::all_of(shapes.begin(), shapes.end(),
                                     [](const at::Tensor& shape) { return shape.defined(); });
  if (are_known) {
    shape_ = compute_(shapes);
    type_ = shape_.scalar_type();
  } else {
    type_ = inputs_.front()->type();
  }
}

std::optional<std::vector<int64_t>> GraphNode::sizes() const {
  if (!shape_.defined()) return std::nullopt;
  return shape_.sizes().vec();
}

at::Tensor GraphNode::Value(Values& values) const {
  const auto found = values.find(this);
  if (found != values.end()) return found->second;
  if (constant_.defined()) return constant_;
  if (compute_ == nullptr) throw std::logic_error("a run feeds no value to a placeholder");
  std::vector<at::Tensor> inputs;
  for (const Node& input : inputs_) inputs.push_back(input->Value(values));
  return values[this] = compute_(inputs);
}

}  // namespace mpsd::standin
