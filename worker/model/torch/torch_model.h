// TorchModel: the common part of all models that run on libtorch.
#pragma once

#include <memory>
#include <string>

#include "ATen/core/TensorBody.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/model/model.h"
#include "worker/model/torch/torch_runtime.h"

namespace mpsd {

// Does for each batch what does not depend on the file format: passes the gate, enters inference
// mode, catches what libtorch throws, checks outputs against the spec, and waits for the lane's
// stream. A subclass adds Forward().
//
//   Run()                              on the lane's thread
//    ├─ DeviceGate::Permit             may wait for other lanes
//    ├─ Forward()                      of the format: borrow inputs, run, Emit() each output
//    └─ TorchRuntime::Finish()         the outputs' bytes are complete from here on
//
// Owned by the worker's main. Thread-safe after loading, if its Forward() is: lanes run it
// concurrently.
class TorchModel : public Model {
 public:
  const ModelSpec& spec() const final { return spec_; }
  std::string device() const final { return runtime_->device().str(); }
  Census census() const final { return census_; }
  Precision precision() const override { return runtime_->precision(); }
  bool wants_self_check() const final { return runtime_->options().self_check; }
  bool wants_row_buckets() const final;
  uint32_t LanesAllowed(uint32_t wanted, std::string* why) const final;
  void RegisterMemory(const void* data, uint64_t bytes) final;
  void UnregisterMemory(const void* data) final;
  absl::Status BindLane(uint32_t lane) final { return runtime_->BindLane(lane); }
  void ReleaseLane(uint32_t lane) final { runtime_->ReleaseLane(lane); }
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) final;
  absl::StatusOr<bool> Answer(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t index,
                              OutputSink* sink) final;

 protected:
  TorchModel(ModelSpec spec, const Census& census, std::unique_ptr<TorchRuntime> runtime);

  // Runs the rows on the calling thread's stream, in inference mode, and gives the outputs to the
  // sink in the order of the spec. `inputs` has one tensor for each input of the spec. May throw;
  // RunInside() catches. Need not wait for the stream: Run() does.
  virtual absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                               OutputSink* sink) const = 0;

  // The same for one answer of a decoupled model; false where there is none of that index.
  virtual absl::StatusOr<bool> GiveAnswer(absl::Span<const InputTensor> /*inputs*/,
                                          uint32_t /*index*/, OutputSink* /*sink*/) {
    return absl::UnimplementedError("the model gives one answer to a request");
  }

  // Gives the sink a tensor as `output` for these rows. INTERNAL when the tensor contradicts the
  // spec.
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

// NOT_FOUND when the model's file is not there, PERMISSION_DENIED when it cannot be read. Both name
// the file.
absl::Status CheckModelFile(const LoadOrder& order);

// The model's file cannot be loaded, because of `why`: INVALID_ARGUMENT, but PERMISSION_DENIED when
// it cannot be read, and RESOURCE_EXHAUSTED or DATA_LOSS as ExecuteFailure() says. The file's name
// and the system's words in `why` are replaced by words of our own.
absl::Status CannotLoad(const LoadOrder& order, absl::string_view why);

// The status, with the model's name before its text.
absl::Status InModel(const LoadOrder& order, const absl::Status& status);

}  // namespace mpsd
