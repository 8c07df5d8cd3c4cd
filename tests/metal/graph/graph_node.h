// GraphNode: one value of a graph, computed by libtorch's own operators on the cpu.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace mpsd::standin {

class GraphNode;
using Node = std::shared_ptr<const GraphNode>;

// The values of one run, by node. Filled with those of the placeholders. Lives on one thread.
using Values = std::unordered_map<const GraphNode*, at::Tensor>;

// Constant after construction, so that runs on several threads may share nodes. Thread-safe.
class GraphNode {
 public:
  using Compute = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

  // A value that each run is given. Without sizes its shape is known only then.
  GraphNode(std::optional<std::vector<int64_t>> sizes, at::ScalarType type);
  // A value that every run has.
  explicit GraphNode(at::Tensor constant);
  // A value that `compute` makes from the values of `inputs`. There is at least one input.
  GraphNode(std::vector<Node> inputs, Compute compute);

  // Null where it depends on a placeholder without sizes.
  std::optional<std::vector<int64_t>> sizes() const;
  at::ScalarType type() const { return type_; }

  // The node's value in this run; computes the values that it needs and remembers them.
  at::Tensor Value(Values& values) const;

 private:
  const std::vector<Node> inputs_;
  const Compute compute_;  // null: a placeholder, or a constant
  const at::Tensor constant_;
  at::Tensor shape_;  // zeros; undefined where the sizes are not known
  at::ScalarType type_ = at::kFloat;
};

}  // namespace mpsd::standin
