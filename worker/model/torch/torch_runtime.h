// TorchRuntime: what every torch model of a worker needs of its device: streams, memory, threads.
#pragma once

#include <array>
#include <memory>
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
#include "worker/model/model.h"
#include "worker/model/torch/device_gate.h"
#include "worker/model/torch/torch_device.h"
#include "worker/model/torch/torch_options.h"

namespace mpsd {

// Thread-safe. Made on the main thread, which is the first to touch the device. Owned by the model.
class TorchRuntime {
 public:
  // Reads the order's switches, checks the libtorch in use, opens the device, sizes the process's
  // thread pools.
  static absl::StatusOr<std::unique_ptr<TorchRuntime>> Create(const LoadOrder& order);

  // Sets the variables that libtorch reads when it first touches the device, as the switches of the
  // order and its share of the memory ask. INVALID_ARGUMENT for a switch that is none.
  static absl::Status SetEnvironment(const LoadOrder& order);

  c10::Device device() const { return device_; }
  const TorchOptions& options() const { return options_; }
  RuntimeKind kind() const { return kind_; }

  // Gives the calling thread its threads' count and a stream of its own: on mps the main thread's,
  // when it is the caller. The lane keeps the stream until ReleaseLane(), on the same thread.
  absl::Status BindLane(uint32_t lane);
  void ReleaseLane(uint32_t lane);

  // Input memory that the device may read without staging. Elsewhere it is staged.
  void RegisterMemory(const void* data, uint64_t bytes);
  void UnregisterMemory(const void* data);

  // The input as a tensor on the device: without a copy on the cpu, unless it `may_be_written`.
  absl::StatusOr<at::Tensor> Borrow(const InputTensor& input, bool may_be_written) const;

  // Copies the tensor, of whatever device and strides, to `target`, contiguous. It is there after
  // Finish().
  void CopyOut(const at::Tensor& tensor, void* target) const;

  // Waits for the calling lane's stream, and for nothing else.
  absl::Status Finish(uint32_t lane) const;

  DeviceGate* gate() { return &gate_; }

 private:
  TorchRuntime(c10::Device device, TorchOptions options, int threads);
  bool IsRegistered(const void* data, uint64_t bytes) const;

  const c10::Device device_;
  const TorchOptions options_;
  const RuntimeKind kind_;
  const int threads_;
  const std::thread::id main_thread_;
  DeviceGate gate_;
  std::unique_ptr<StreamDevice> stream_device_;  // none on the cpu
  std::unique_ptr<StreamSet> streams_;
  std::array<StreamLease, kMaxLanes> leases_;  // each its lane's own

  mutable absl::Mutex mu_;
  std::vector<std::pair<const char*, uint64_t>> registered_ ABSL_GUARDED_BY(mu_);
};

// Holds what a model threw, or how its answer differs from its spec, as a client may see it.
absl::Status ModelFailure(const absl::Status& status);

}  // namespace mpsd
