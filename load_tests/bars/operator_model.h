// OperatorModel: the operators of a bar as one model on libtorch.
#pragma once

#include <memory>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "absl/status/statusor.h"
#include "load_tests/bars/bar_task.h"
#include "worker/model/torch/torch_model.h"

namespace mpsd::load {

// Runs the task whose number is the first input on the second input. It runs like a worker's model:
// streams, copies from and to the host, waits, the guard of a gpu's driver. Lanes share the
// weights, which are the same in each process. Thread-safe once made, as every TorchModel.
class OperatorModel final : public TorchModel {
 public:
  // Opens the order's device and makes the weights there. Called on the main thread, after
  // StartRuntime().
  static absl::StatusOr<std::unique_ptr<OperatorModel>> Make(const LoadOrder& order,
                                                             std::vector<BarTask> tasks);

 private:
  // The weights and biases of one task's layers.
  using Weights = std::vector<at::Tensor>;

  OperatorModel(std::vector<BarTask> tasks, std::unique_ptr<TorchRuntime> runtime);
  absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                       OutputSink* sink) const override;
  void MakeWeights();

  const std::vector<BarTask> tasks_;
  std::vector<Weights> weights_;  // by task
};

}  // namespace mpsd::load
