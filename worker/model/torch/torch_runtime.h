// TorchRuntime: the device of a worker's torch model: its streams, memory and threads.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/limits.h"
#include "proto/link/messages.h"
#include "worker/metal/objective_c.h"
#include "worker/model/model.h"
#include "worker/model/runtime/torch_options.h"
#include "worker/model/sharing/device_memory.h"
#include "worker/model/torch/device_gate.h"
#include "worker/model/torch/thread_share.h"
#include "worker/model/torch/torch_device.h"
#include "worker/model/torch/unified_memory.h"

namespace mpsd {

// Hides the differences between devices from the models. On the cpu inputs are borrowed and nothing
// is waited for. Elsewhere inputs and outputs are copied, and a lane waits for its own stream. Made
// on the main thread, which is the first to touch the device. Owned by the model.
//
// Thread-safe. The functions that take a lane are called on that lane's thread.
class TorchRuntime final : public ModelMemory {
 public:
  // Reads the order's switches, checks the loaded libtorch (preflight), opens the device, and sets
  // how the device rounds products (torch_precision.h). Also sizes the process's thread pools,
  // which can be done only once. An error tells the operator what to do.
  static absl::StatusOr<std::unique_ptr<TorchRuntime>> Create(const LoadOrder& order);

  // Sets the environment variables that libtorch reads when it first touches the device, by the
  // order's switches and its share of the memory. A value that the operator has set stays.
  // INVALID_ARGUMENT names a wrong switch. Called on the main thread before Create().
  static absl::Status SetEnvironment(const LoadOrder& order);

  c10::Device device() const { return device_; }
  const TorchOptions& options() const { return options_; }
  Precision precision() const { return precision_; }  // the order's precision
  RuntimeKind kind() const { return kind_; }

  // Sets the calling thread's thread count and gives it a stream of its own. On mps the main
  // thread, if it calls, gets the main stream. The lane keeps the stream until ReleaseLane() on the
  // same thread. RESOURCE_EXHAUSTED when there is no stream left.
  absl::Status BindLane(uint32_t lane);
  void ReleaseLane(uint32_t lane);

  // If the device cannot read or write the memory directly, tensors in it are staged.
  void RegisterMemory(const void* data, uint64_t bytes) override;
  void UnregisterMemory(const void* data) override;
  void RegisterOutputMemory(void* data, uint64_t bytes) override;
  uint64_t UnusedMemoryBytes() const override {
    return mpsd::UnusedMemoryBytes(device_, unified_ == nullptr ? 0 : unified_->HeldBytes());
  }
  void ReleaseUnusedMemory() override { mpsd::ReleaseUnusedMemory(device_); }

  // Where the device finds inputs: kNone on the cpu and on cuda. Constant.
  InputMemory input_memory() const {
    return unified_ == nullptr ? InputMemory::kNone : unified_->input_memory();
  }

  // Whether lanes record runs here: on cuda, unless the order's switch is off. If the switch is
  // kAuto, a worker without the recorder's library does not record. Constant.
  bool records_runs() const { return records_runs_; }

  // Whether FloatPanels multiply float weights: on a cpu where they are faster, unless the order's
  // switch says otherwise. Constant.
  bool uses_float_panels() const;

  // The input as a tensor on the device. On the cpu, and on mps if the device reads slabs, this is
  // the slab's own memory, or a copy if it `may_be_written`. Elsewhere it is a copy, which may
  // still be running on the lane's stream. INTERNAL for a datatype that libtorch has no tensors of.
  absl::StatusOr<at::Tensor> Borrow(const InputTensor& input, bool may_be_written) const;

  // Copies the input's rows over the first rows of `target`, a tensor on the device with at least
  // as many rows and otherwise the same shape. The copy may still be running on the lane's stream.
  absl::Status CopyIn(const InputTensor& input, const at::Tensor& target) const;

  // Copies the tensor to `target`, contiguous, whatever its device and strides are. The bytes are
  // complete after Finish().
  void CopyOut(const at::Tensor& tensor, void* target) const;

  // Where weights that other workers use too are moved; null if none are shared. Used on the main
  // thread.
  DeviceMemorySource* memory_source() const { return memory_source_.get(); }

  // Blocks until the calling lane's stream is done; waits for no other lane.
  absl::Status Finish(uint32_t lane) const;

  // Gives its model's memory back to the device, for the next model that "auto" tries.
  ~TorchRuntime() override;

  // A lane's right to run, for as long as this object lives: on the device, and on its share of the
  // cores. The constructor waits if the order's parameters let only few lanes run at once. On mps
  // libtorch keeps buffers in pools of its own, which an exception leaves open. The destructor ends
  // them. Made and destroyed on the lane's thread.
  class Turn {
   public:
    explicit Turn(TorchRuntime* runtime);

   private:
    const DeviceGate::Permit permit_;
    const ThreadShare::Part part_;
    std::optional<AutoreleasePool> pool_;  // only on mps
  };

 private:
  TorchRuntime(c10::Device device, const LoadOrder& order, TorchOptions options);
  bool IsRegistered(const void* data, uint64_t bytes) const;

  const c10::Device device_;
  const Precision precision_;
  const TorchOptions options_;
  const RuntimeKind kind_;
  const int threads_;  // the most threads of one inference
  const std::thread::id main_thread_;
  bool records_runs_ = false;
  std::unique_ptr<DeviceMemorySource> memory_source_;
  DeviceGate gate_;
  ThreadShare share_;
  std::unique_ptr<StreamDevice> stream_device_;  // null on the cpu
  std::unique_ptr<StreamSet> streams_;
  std::optional<ObjectiveC> objective_c_;      // only on mps
  std::unique_ptr<UnifiedMemory> unified_;     // only on mps
  std::array<StreamLease, kMaxLanes> leases_;  // each belongs to its lane's thread

  mutable absl::Mutex mu_;
  std::vector<std::pair<const char*, uint64_t>> registered_ ABSL_GUARDED_BY(mu_);
};

// The status, with the model's name before its text.
absl::Status InModel(const LoadOrder& order, const absl::Status& status);

// The status as a client may see it. A status that does not begin with "PyTorch execute failure"
// says how an answer contradicts its spec: it becomes FAILED_PRECONDITION, with these words in
// front.
absl::Status ModelFailure(const absl::Status& status);

}  // namespace mpsd
