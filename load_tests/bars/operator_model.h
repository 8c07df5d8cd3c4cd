// OperatorModel: the operators of a bar as one model on libtorch.
#pragma once

#include <memory>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "absl/status/statusor.h"
#include "load_tests/bars/bar_task.h"
#include "worker/model/torch/torch_model.h"

namespace mpsd::load {

// Runs the task that the first input numbers on the second input. Lanes share the weights, which
// are the same in each process. Thread-safe once made.
class OperatorModel final : public TorchModel {
 public:
  // Opens the order's device. Called on the main thread, after StartRuntime().
  static absl::StatusOr<std::unique_ptr<OperatorModel>> Make(const LoadOrder& order,
                                                             std::vector<BarTask> tasks);

 private:
  // One task's weights and biases.
  using Weights = std::vector<at::Tensor>;

  OperatorModel(std::vector<BarTask> tasks, std::unique_ptr<TorchRuntime> runtime);
  absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                       OutputSink* sink) const override;
  void MakeWeights();

  const std::vector<BarTask> tasks_;
  std::vector<Weights> weights_;  // by task
};

}  // namespace mpsd::load
