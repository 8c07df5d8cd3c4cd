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
// is waited for. Elsewhere inputs and outputs are copied, and a lane waits for its own stream.
// Owned by the model. Thread-safe, but functions that take a lane are called on that lane's thread.
class TorchRuntime final : public ModelMemory {
 public:
  // Checks the loaded libtorch (preflight), opens the device and sizes the process's thread pools,
  // which can be done only once. Called on the main thread, the first to touch the device. An error
  // tells the operator what to do.
  static absl::StatusOr<std::unique_ptr<TorchRuntime>> Create(const LoadOrder& order);

  // Sets the environment variables that libtorch reads when it first touches the device, unless the
  // operator has. INVALID_ARGUMENT names a wrong switch. Called on the main thread before Create().
  static absl::Status SetEnvironment(const LoadOrder& order);

  c10::Device device() const { return device_; }
  const TorchOptions& options() const { return options_; }
  Precision precision() const { return precision_; }  // the order's precision
  RuntimeKind kind() const { return kind_; }

  // Gives the calling thread its thread count and a stream of its own, until ReleaseLane() on the
  // same thread. On mps the main thread gets the main stream. RESOURCE_EXHAUSTED when no stream is
  // left.
  absl::Status BindLane(uint32_t lane);
  void ReleaseLane(uint32_t lane);

  // If the device cannot access the memory directly, tensors in it are staged.
  void RegisterMemory(const void* data, uint64_t bytes) override;
  void UnregisterMemory(const void* data) override;
  void RegisterOutputMemory(void* data, uint64_t bytes) override;
  uint64_t UnusedMemoryBytes() const override {
    return mpsd::UnusedMemoryBytes(device_, unified_ == nullptr ? 0 : unified_->HeldBytes());
  }
  void ReleaseUnusedMemory() override { mpsd::ReleaseUnusedMemory(device_); }

  // kNone on the cpu and on cuda. Constant.
  InputMemory input_memory() const {
    return unified_ == nullptr ? InputMemory::kNone : unified_->input_memory();
  }

  // On cuda, unless the order's switch is off or, with kAuto, the recorder's library is missing.
  // Constant.
  bool records_runs() const { return records_runs_; }

  // On a cpu where they are faster, unless the order's switch says otherwise. Constant.
  bool uses_float_panels() const;

  // The input on the device. On the cpu, and on mps if the device reads slabs, this is the slab's
  // own memory, or a copy if it `may_be_written`. Elsewhere a copy may still be running on the
  // lane's stream. INTERNAL for a datatype that libtorch lacks.
  absl::StatusOr<at::Tensor> Borrow(const InputTensor& input, bool may_be_written) const;

  // Copies the input over the first rows of `target`, a tensor on the device. The copy may still be
  // running on the lane's stream.
  absl::Status CopyIn(const InputTensor& input, const at::Tensor& target) const;

  // As CopyOutput(). The bytes are complete after Finish().
  void CopyOut(const at::Tensor& tensor, void* target) const;

  // Null if no weights are shared. Used on the main thread.
  DeviceMemorySource* memory_source() const { return memory_source_.get(); }

  // Waits for the calling lane's stream alone.
  absl::Status Finish(uint32_t lane) const;

  // Gives the memory back, for the next model that "auto" tries.
  ~TorchRuntime() override;

  // A lane's right to run, on the device and on its share of the cores. The constructor may wait
  // for other lanes. The destructor ends libtorch's pools of buffers that an exception leaves open
  // on mps. Made and destroyed on the lane's thread.
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

// The status, with the model's name before the text.
absl::Status InModel(const LoadOrder& order, const absl::Status& status);

// The status as a client may see it. Unless its text begins with "PyTorch execute failure", an
// answer contradicts its spec: FAILED_PRECONDITION, with these words in front.
absl::Status ModelFailure(const absl::Status& status);

}  // namespace mpsd
