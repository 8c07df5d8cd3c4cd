// TorchModel: the common part of all models that run on libtorch.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "c10/core/Storage.h"
#include "proto/base/limits.h"
#include "worker/model/model.h"
#include "worker/model/torch/graph_recorder.h"
#include "worker/model/torch/recorded_runs.h"
#include "worker/model/torch/shared_weights.h"
#include "worker/model/torch/torch_runtime.h"

namespace mpsd {

// Does what each batch needs in any format. A subclass adds Forward(), and Compute() if its runs
// can be recorded.
//
//   Run()  ─▶  OnLane()                Called on the lane's thread.
//    ├─ DeviceGate::Permit             May wait for other lanes.
//    ├─ Forward()                      The format's: borrow inputs, run, Emit() each output;
//    │  or Replay()                    if the lane has recorded a run for such a batch.
//    └─ TorchRuntime::Finish()         From here on the outputs' bytes are complete.
//
// Owned by the worker's main. Thread-safe after loading, if Forward() is.
class TorchModel : public Model, private RunRecorder {
 public:
  RunRecorder* recorder() final;
  ShareableWeights* weights() final { return weights_.has_value() ? &*weights_ : nullptr; }
  ModelMemory* memory() final { return runtime_.get(); }
  absl::Status BindLane(uint32_t lane) final { return runtime_->BindLane(lane); }
  void ReleaseLane(uint32_t lane) final;
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) final;

 protected:
  TorchModel(const ModelSpec& spec, const Census& census, std::unique_ptr<TorchRuntime> runtime);

  // Lets workers share these storages, which no run writes. For constructors.
  void OfferWeights(std::vector<c10::Storage> storages);

  // Runs the rows on the calling thread's stream, in inference mode, and gives the sink the outputs
  // in the spec's order. May throw, and need not wait for the stream.
  virtual absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                               OutputSink* sink) const = 0;

  // Runs `forward` in its turn and waits for the lane's stream. Errors and exceptions become a
  // status that a client may see.
  absl::Status OnLane(uint32_t lane, absl::FunctionRef<absl::Status()> forward) const;

  virtual bool can_compute() const { return false; }

  // The outputs for `rows` rows, in the spec's order. All tensors lie on the device. A model that
  // waits for the device or copies from the host throws while it is recorded. May throw.
  virtual absl::StatusOr<std::vector<at::Tensor>> Compute(absl::Span<const at::Tensor> /*inputs*/,
                                                          uint32_t /*rows*/) const {
    return absl::UnimplementedError("the format records no runs");
  }

  virtual RecordPlace PlaceOf(absl::Span<const InputTensor> inputs, uint32_t row_count) const;

  // The inputs that a record for such a batch reads, and its rows. Their numbers do not matter.
  virtual absl::StatusOr<RecordedBatch> BeginRecord(absl::Span<const InputTensor> inputs,
                                                    uint32_t row_count) const;

  // False: the batch must run without the record.
  virtual absl::StatusOr<bool> FillRecord(absl::Span<const InputTensor> inputs,
                                          const RecordedBatch& record) const;

  // Gives the sink a tensor as `output`. INTERNAL when the tensor contradicts the spec.
  absl::Status Emit(const at::Tensor& tensor, const TensorSpec& output, uint32_t row_count,
                    OutputSink* sink) const;

  const TorchRuntime& runtime() const { return *runtime_; }

 private:
  // Belongs to the lane's thread.
  struct LaneRecords {
    std::unique_ptr<GraphRecorder> recorder;  // made for the first record; outlives the runs
    RecordedRuns runs;
  };

  std::vector<TrialShape> Shapes() const override { return RecordShapes(spec()); }
  absl::Status Record(uint32_t lane, absl::Span<const InputTensor> inputs,
                      uint32_t row_count) final;
  void SetPrice(uint32_t lane, absl::Span<const InputTensor> inputs, const RunPrice& price) final;
  void Drop(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count) final;
  absl::Status RecordInside(uint32_t lane, absl::Span<const InputTensor> inputs,
                            uint32_t row_count);
  absl::StatusOr<bool> Replay(uint32_t lane, absl::Span<const InputTensor> inputs,
                              uint32_t row_count, OutputSink* sink) const;
  absl::Status CheckRecorded(const RecordedBatch& batch) const;

  const std::unique_ptr<TorchRuntime> runtime_;
  std::optional<TorchWeights> weights_;  // nothing if workers share none
  std::array<LaneRecords, kMaxLanes> records_;
};

// NOT_FOUND or PERMISSION_DENIED names a model file that is missing or cannot be read.
absl::Status CheckModelFile(const LoadOrder& order);

// The error for a model's file that cannot be loaded because of `why`, without the file's name.
// INVALID_ARGUMENT, except PERMISSION_DENIED when the file cannot be read, and RESOURCE_EXHAUSTED
// or DATA_LOSS as ExecuteFailure() says.
absl::Status CannotLoad(const LoadOrder& order, absl::string_view why);

}  // namespace mpsd
