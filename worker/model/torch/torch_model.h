// TorchModel: what the models that run on libtorch have in common.
#pragma once

#include <memory>
#include <string>

#include "ATen/core/TensorBody.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/model/model.h"
#include "worker/model/torch/torch_runtime.h"

namespace mpsd {

// Thread-safe after loading, as its Forward() is.
class TorchModel : public Model {
 public:
  const ModelSpec& spec() const final { return spec_; }
  std::string device() const final { return runtime_->device().str(); }
  Census census() const final { return census_; }
  bool wants_self_check() const final { return runtime_->options().self_check; }
  uint32_t LanesAllowed(uint32_t wanted, std::string* why) const final;
  void RegisterMemory(const void* data, uint64_t bytes) final;
  void UnregisterMemory(const void* data) final;
  absl::Status BindLane(uint32_t lane) final { return runtime_->BindLane(lane); }
  void ReleaseLane(uint32_t lane) final { runtime_->ReleaseLane(lane); }
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) final;

 protected:
  TorchModel(ModelSpec spec, const Census& census, std::unique_ptr<TorchRuntime> runtime);

  // Runs the rows on the calling thread's stream, in inference mode, and gives the sink what came
  // of it, in the order of the spec's outputs. There is an input for each of the spec's. May throw.
  virtual absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                               OutputSink* sink) const = 0;

  // Gives the sink a tensor that is the output of these rows, or says how it is not.
  absl::Status Emit(const at::Tensor& tensor, const TensorSpec& output, uint32_t row_count,
                    OutputSink* sink) const;

  const TorchRuntime& runtime() const { return *runtime_; }

 private:
  absl::Status RunInside(absl::Span<const InputTensor> inputs, uint32_t row_count,
                         OutputSink* sink) const;

  const ModelSpec spec_;
  const Census census_;
  const std::unique_ptr<TorchRuntime> runtime_;
};

// A file of a model that is there. NOT_FOUND names it.
absl::Status CheckModelFile(const LoadOrder& order);

// `why`, where it holds the system's words or the file's name, in words of our own.
absl::Status CannotLoad(const LoadOrder& order, absl::string_view why);

// The status, with the model's name in front.
absl::Status InModel(const LoadOrder& order, const absl::Status& status);

}  // namespace mpsd
