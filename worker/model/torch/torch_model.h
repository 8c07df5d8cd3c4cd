// TorchModel: the common part of all models that run on libtorch.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "c10/core/Storage.h"
#include "proto/base/fd.h"
#include "proto/base/limits.h"
#include "worker/model/model.h"
#include "worker/model/torch/graph_recorder.h"
#include "worker/model/torch/recorded_runs.h"
#include "worker/model/torch/torch_runtime.h"

namespace mpsd {

// Does for each batch what does not depend on the file format. A subclass adds Forward(), and
// Compute() if its runs can be recorded.
//
//   Run()                              Called on the lane's thread.
//    ├─ DeviceGate::Permit             May wait for other lanes.
//    ├─ Forward()                      The format's: borrow inputs, run, Emit() each output;
//    │  or Replay()                    if the lane has recorded a run for such a batch.
//    └─ TorchRuntime::Finish()         From here on the outputs' bytes are complete.
//
// Owned by the worker's main. Thread-safe after loading, if its Forward() is: lanes run it
// concurrently.
class TorchModel : public Model {
 public:
  const ModelSpec& spec() const final { return spec_; }
  std::string device() const final { return runtime_->device().str(); }
  Census census() const final { return census_; }
  Precision precision() const override { return runtime_->precision(); }
  bool wants_self_check() const override { return runtime_->options().self_check; }
  bool needs_self_check() const final;
  bool wants_row_buckets() const final;
  uint32_t LanesAllowed(uint32_t wanted, std::string* why) const final;
  DriverGuard driver_guard() const final;
  InputMemory input_memory() const final { return runtime_->input_memory(); }
  bool wants_records() const final;
  absl::Status Record(uint32_t lane, absl::Span<const InputTensor> inputs,
                      uint32_t row_count) final;
  void SetRecordPrice(uint32_t lane, absl::Span<const InputTensor> inputs,
                      const RunPrice& price) final;
  void DropRecord(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count) final;
  uint64_t weight_bytes() const final;
  absl::StatusOr<UniqueFd> ShareWeights() final;
  absl::Status UseWeights(UniqueFd memory) final;
  void RegisterMemory(const void* data, uint64_t bytes) final;
  void UnregisterMemory(const void* data) final;
  void RegisterOutputMemory(void* data, uint64_t bytes) final;
  bool gives_memory_back() const final;
  uint64_t UnusedMemoryBytes() final { return runtime_->UnusedMemoryBytes(); }
  void ReleaseUnusedMemory() final { mpsd::ReleaseUnusedMemory(runtime_->device()); }
  absl::Status BindLane(uint32_t lane) final { return runtime_->BindLane(lane); }
  void ReleaseLane(uint32_t lane) final;
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) final;
  absl::StatusOr<bool> Answer(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t index,
                              OutputSink* sink) final;

 protected:
  TorchModel(ModelSpec spec, const Census& census, std::unique_ptr<TorchRuntime> runtime);

  // Runs the rows on the calling thread's stream, in inference mode, and gives the outputs to the
  // sink in the order of the spec. There is one tensor in `inputs` for each input of the spec. May
  // throw; RunInside() catches. Need not wait for the stream: Run() does.
  virtual absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                               OutputSink* sink) const = 0;

  // The storages that the device reads in each run and no run writes. Each is listed once, in the
  // same order by all workers of the model.
  virtual std::vector<c10::Storage> Weights() const { return {}; }

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

  // Like Forward(), for one answer of a decoupled model; false if there is no answer of that index.
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
  // The records of a lane. Belongs to the lane's thread.
  struct LaneRecords {
    std::unique_ptr<GraphRecorder> recorder;  // made for the first record; outlives the runs
    RecordedRuns runs;
  };

  absl::Status RunInside(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                         OutputSink* sink) const;
  absl::Status RecordInside(uint32_t lane, absl::Span<const InputTensor> inputs,
                            uint32_t row_count);
  absl::StatusOr<bool> Replay(uint32_t lane, absl::Span<const InputTensor> inputs,
                              uint32_t row_count, OutputSink* sink) const;
  absl::Status CheckRecorded(const RecordedBatch& batch) const;

  const ModelSpec spec_;
  const Census census_;
  const std::unique_ptr<TorchRuntime> runtime_;
  std::array<LaneRecords, kMaxLanes> records_;
};

// NOT_FOUND when the model's file is missing, PERMISSION_DENIED when it cannot be read. Both name
// the file.
absl::Status CheckModelFile(const LoadOrder& order);

// The error for a model's file that cannot be loaded because of `why`. INVALID_ARGUMENT, except
// PERMISSION_DENIED when it cannot be read, and RESOURCE_EXHAUSTED or DATA_LOSS as ExecuteFailure()
// says. Words of our own replace the file's name and the system's words in `why`.
absl::Status CannotLoad(const LoadOrder& order, absl::string_view why);

// The status, with the model's name before its text.
absl::Status InModel(const LoadOrder& order, const absl::Status& status);

}  // namespace mpsd
