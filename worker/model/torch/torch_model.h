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

// Does for each batch what does not depend on the file format. A subclass adds Forward(), and
// Compute() if its runs can be recorded.
//
//   Run()  ─▶  OnLane()                Called on the lane's thread.
//    ├─ DeviceGate::Permit             May wait for other lanes.
//    ├─ Forward()                      The format's: borrow inputs, run, Emit() each output;
//    │  or Replay()                    if the lane has recorded a run for such a batch.
//    └─ TorchRuntime::Finish()         From here on the outputs' bytes are complete.
//
// Owned by the worker's main. Thread-safe after loading, if its Forward() is: lanes run it
// concurrently.
class TorchModel : public Model, private RunRecorder {
 public:
  // Null unless the device records runs and the format has Compute().
  RunRecorder* recorder() final;
  ShareableWeights* weights() final { return weights_.has_value() ? &*weights_ : nullptr; }
  ModelMemory* memory() final { return runtime_.get(); }
  absl::Status BindLane(uint32_t lane) final { return runtime_->BindLane(lane); }
  void ReleaseLane(uint32_t lane) final;
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) final;

 protected:
  // Sets the traits that the device and the order decide.
  TorchModel(const ModelSpec& spec, const Census& census, std::unique_ptr<TorchRuntime> runtime);

  // Lets workers share these storages, which each run reads and none writes. For constructors.
  void OfferWeights(std::vector<c10::Storage> storages);

  // Runs the rows on the calling thread's stream, in inference mode, and gives the outputs to the
  // sink in the order of the spec. There is one tensor in `inputs` for each input of the spec. May
  // throw; OnLane() catches. Need not wait for the stream: OnLane() does.
  virtual absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                               OutputSink* sink) const = 0;

  // Runs `forward` in inference mode, in its turn, and waits for the lane's stream. A status that
  // `forward` throws or returns becomes one that a client may see.
  absl::Status OnLane(uint32_t lane, absl::FunctionRef<absl::Status()> forward) const;

  // Whether the format has Compute().
  virtual bool can_compute() const { return false; }

  // The device's part of a forward: returns the outputs for these inputs with `rows` rows, all on
  // the device, in the order of the spec. Neither waits for the device nor copies from the host,
  // unless the model itself does; such a model throws while it is recorded. May throw.
  virtual absl::StatusOr<std::vector<at::Tensor>> Compute(absl::Span<const at::Tensor> /*inputs*/,
                                                          uint32_t /*rows*/) const {
    return absl::UnimplementedError("the format records no runs");
  }

  // The key and size by which records for the batch are found.
  virtual RecordPlace PlaceOf(absl::Span<const InputTensor> inputs, uint32_t row_count) const;

  // The inputs that a record for such a batch reads, and its rows. Their numbers do not matter.
  virtual absl::StatusOr<RecordedBatch> BeginRecord(absl::Span<const InputTensor> inputs,
                                                    uint32_t row_count) const;

  // Copies a batch into the record's inputs; false: the batch must run without the record.
  virtual absl::StatusOr<bool> FillRecord(absl::Span<const InputTensor> inputs,
                                          const RecordedBatch& record) const;

  // Gives the sink a tensor as `output` for these rows. INTERNAL when the tensor contradicts the
  // spec.
  absl::Status Emit(const at::Tensor& tensor, const TensorSpec& output, uint32_t row_count,
                    OutputSink* sink) const;

  const TorchRuntime& runtime() const { return *runtime_; }

 private:
  // The records of a lane. Belongs to the lane's thread.
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

// NOT_FOUND when the model's file is missing, PERMISSION_DENIED when it cannot be read. Both name
// the file.
absl::Status CheckModelFile(const LoadOrder& order);

// The error for a model's file that cannot be loaded because of `why`. INVALID_ARGUMENT, except
// PERMISSION_DENIED when it cannot be read, and RESOURCE_EXHAUSTED or DATA_LOSS as ExecuteFailure()
// says. Words of our own replace the file's name and the system's words in `why`.
absl::Status CannotLoad(const LoadOrder& order, absl::string_view why);

}  // namespace mpsd
