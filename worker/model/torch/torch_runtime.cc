#include "worker/model/torch/torch_runtime.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "ATen/Parallel.h"
#include "ATen/ops/from_blob.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "worker/metal/metal_device.h"
#include "worker/metal/no_copy_buffers.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/products/float_panels.h"
#include "worker/model/products/team.h"
#include "worker/model/runtime/mps_policy.h"
#include "worker/model/runtime/precision_support.h"
#include "worker/model/runtime/preflight.h"
#include "worker/model/sharing/cuda_memory.h"
#include "worker/model/sharing/host_memory.h"
#include "worker/model/torch/forward_outputs.h"
#include "worker/model/torch/graph_recorder.h"
#include "worker/model/torch/mps_stream_wait.h"
#include "worker/model/torch/scalar_types.h"
#include "worker/model/torch/torch_precision.h"

namespace mpsd {
namespace {

int ThreadsOf(const LoadOrder& order) { return static_cast<int>(std::max(order.threads, 1U)); }

// The inter-op pool can be sized only once in a process, before its first use.
void SizeThreadPools(int threads) {
  at::set_num_threads(threads);
  static const bool sized = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  static_cast<void>(sized);
}

// A patched libtorch reads the variable when it first touches the device.
void SetGraphPath(Switch wanted) {
  if (wanted == Switch::kOn) setenv("MPS_FORCE_GRAPH_PATH", "1", 1);
  if (wanted == Switch::kOff) unsetenv("MPS_FORCE_GRAPH_PATH");
}

// Read when libtorch first allocates.
void SetWatermarks(uint32_t share_percent) {
  if (share_percent == 0) return;
  const MpsWatermarks watermarks = DivideWatermarks(share_percent);
  setenv("PYTORCH_MPS_LOW_WATERMARK_RATIO", watermarks.low.c_str(), 0);
  setenv("PYTORCH_MPS_HIGH_WATERMARK_RATIO", watermarks.high.c_str(), 0);
}

absl::StatusOr<at::Tensor> OnHost(const InputTensor& input) {
  const std::optional<c10::ScalarType> type = ToScalarType(input.datatype);
  if (!type.has_value()) return absl::InternalError("an input is of a type without tensors");
  const c10::IntArrayRef sizes(input.dims.data(), input.dims.size());
  return at::from_blob(const_cast<void*>(input.data), sizes, at::TensorOptions(*type));
}

// FAILED_PRECONDITION if the switch is on and recording is impossible.
absl::StatusOr<bool> DecideRecords(Switch wanted, c10::Device device) {
  if (!Wanted(wanted, device.is_cuda())) return false;
  const absl::Status library = device.is_cuda()
                                   ? OpenCudaRecorder()
                                   : absl::FailedPreconditionError("only cuda records runs");
  if (library.ok()) return true;
  if (wanted == Switch::kAuto) return false;
  return absl::Status(library.code(), absl::StrCat("graphs: ", library.message()));
}

// Null if workers share no weights. FAILED_PRECONDITION if the switch is on and sharing is
// impossible.
absl::StatusOr<std::unique_ptr<DeviceMemorySource>> OpenMemorySource(Switch wanted,
                                                                     c10::Device device) {
  if (!Wanted(wanted, device.is_cuda())) return nullptr;
  std::unique_ptr<DeviceMemorySource> source;
  if (device.is_cuda()) source = OpenCudaMemory(device.index());
  if (device.is_cpu()) source = MakeHostMemory();
  if (source != nullptr || wanted == Switch::kAuto) return source;
  return absl::FailedPreconditionError(
      absl::StrCat("shared_weights: ", device.str(), " has no memory that processes share"));
}

absl::StatusOr<std::unique_ptr<BufferMaker>> OpenBuffers(const absl::StatusOr<MetalDevice>& metal) {
  if (!metal.ok()) return metal.status();
  return std::make_unique<NoCopyBuffers>(*metal);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TorchRuntime>> TorchRuntime::Create(const LoadOrder& order) {
  absl::StatusOr<TorchOptions> options = TorchOptions::Parse(order.parameters);
  if (!options.ok()) return InModel(order, options.status());
  if (absl::Status status = SetEnvironment(order); !status.ok()) return status;
  // First, because libtorch keeps what it then finds of CUDA.
  const absl::StatusOr<c10::Device> device = PickDevice(order.device);
  if (!device.ok()) return device.status();
  if (absl::Status status = CheckRuntime(LoadedRuntime(), *options); !status.ok()) {
    return InModel(order, status);
  }
  if (absl::Status status = CheckPrecisionThere(order.precision, device->str()); !status.ok()) {
    return InModel(order, status);
  }
  const absl::StatusOr<bool> records = DecideRecords(options->graphs, *device);
  if (!records.ok()) return InModel(order, records.status());
  absl::StatusOr<std::unique_ptr<DeviceMemorySource>> source =
      OpenMemorySource(options->shared_weights, *device);
  if (!source.ok()) return InModel(order, source.status());
  const std::string objection =
      ProfilerObjection(device->str(), order.lanes, [](const char* name) { return getenv(name); });
  if (!objection.empty() && !options->allow_profiler) {
    return InModel(order, absl::FailedPreconditionError(objection));
  }
  std::unique_ptr<TorchRuntime> runtime;
  const absl::Status status = CatchForeign(
      [&] {
        SizeThreadPools(ThreadsOf(order));
        RoundProductsFor(order.precision);
        runtime.reset(new TorchRuntime(*device, order, *std::move(options)));
        runtime->records_runs_ = *records;
        runtime->memory_source_ = *std::move(source);
        return absl::OkStatus();
      },
      [&](absl::string_view what) {
        return absl::UnavailableError(
            absl::StrCat("device '", device->str(), "' does not answer: ", MeaningfulLine(what)));
      });
  if (!status.ok()) return InModel(order, status);
  return runtime;
}

absl::Status TorchRuntime::SetEnvironment(const LoadOrder& order) {
  const absl::StatusOr<TorchOptions> options = TorchOptions::Parse(order.parameters);
  if (!options.ok()) return InModel(order, options.status());
  SetGraphPath(options->force_graph_path);
  SetWatermarks(order.memory_share_percent);
  return absl::OkStatus();
}

TorchRuntime::TorchRuntime(c10::Device device, const LoadOrder& order, TorchOptions options)
    : device_(device),
      precision_(order.precision),
      options_(std::move(options)),
      kind_(LoadedRuntimeKind()),
      threads_(ThreadsOf(order)),
      main_thread_(std::this_thread::get_id()),
      gate_(options_.device_inflight),
      share_(threads_, std::max(threads_, static_cast<int>(order.cores))) {
  if (device_.is_cpu()) return;
  stream_device_ = MakeStreamDevice(device_);
  streams_ = std::make_unique<StreamSet>(stream_device_.get(), StreamCount(device_),
                                         options_.stream_exhaustion);
  streams_->InitializeMainThread();
  if (!device_.is_mps()) return;
  const absl::StatusOr<MetalDevice> metal = OpenMetal();
  if (metal.ok()) objective_c_ = metal->runtime;
  unified_ = std::make_unique<UnifiedMemory>(device_, OpenBuffers(metal), &WaitForMpsStream);
}

TorchRuntime::~TorchRuntime() { mpsd::ReleaseUnusedMemory(device_); }

bool TorchRuntime::uses_float_panels() const {
  return device_.is_cpu() && HasPanelProducts() && Wanted(options_.panels, FloatPanels::Pay());
}

absl::Status TorchRuntime::BindLane(uint32_t lane) {
  MPSD_CHECK(lane < kMaxLanes);
  // OpenMP counts threads per thread; libtorch sets the count when a thread first asks for it.
  at::set_num_threads(threads_);
  at::get_num_threads();
  if (streams_ == nullptr) return absl::OkStatus();
  return CatchForeign([&] {
    const bool on_main = device_.is_mps() && std::this_thread::get_id() == main_thread_;
    absl::StatusOr<StreamLease> lease = on_main ? streams_->AcquireMain() : streams_->Acquire();
    if (lease.ok()) leases_[lane] = *std::move(lease);
    return lease.status();
  });
}

TorchRuntime::Turn::Turn(TorchRuntime* runtime)
    : permit_(&runtime->gate_), part_(&runtime->share_) {
  if (runtime->device_.is_cpu()) SizeTeam(part_.threads());
  if (runtime->objective_c_.has_value()) pool_.emplace(*runtime->objective_c_);
}

void TorchRuntime::ReleaseLane(uint32_t lane) {
  MPSD_CHECK(lane < kMaxLanes);
  leases_[lane].Release();
}

void TorchRuntime::RegisterMemory(const void* data, uint64_t bytes) {
  if (unified_ != nullptr) unified_->Add(data, bytes);
  if (!RegisterHostMemory(device_, data, bytes, HostMemoryUse::kRead)) return;
  absl::MutexLock lock(&mu_);
  registered_.emplace_back(static_cast<const char*>(data), bytes);
}

void TorchRuntime::UnregisterMemory(const void* data) {
  if (unified_ != nullptr) unified_->Remove(data);
  absl::MutexLock lock(&mu_);
  const auto found = std::find_if(registered_.begin(), registered_.end(),
                                  [data](const auto& range) { return range.first == data; });
  if (found == registered_.end()) return;
  UnregisterHostMemory(data);
  registered_.erase(found);
}

void TorchRuntime::RegisterOutputMemory(void* data, uint64_t bytes) {
  RegisterHostMemory(device_, data, bytes, HostMemoryUse::kWritten);
}

bool TorchRuntime::IsRegistered(const void* data, uint64_t bytes) const {
  absl::ReaderMutexLock lock(&mu_);
  const char* at = static_cast<const char*>(data);
  return std::any_of(registered_.begin(), registered_.end(), [&](const auto& range) {
    return at >= range.first && at + bytes <= range.first + range.second;
  });
}

// A copy need not wait if its memory is registered, or if the batch waits once at its end: slabs
// and gathered rows stay until then.
absl::StatusOr<at::Tensor> TorchRuntime::Borrow(const InputTensor& input,
                                                bool may_be_written) const {
  const absl::StatusOr<at::Tensor> tensor = OnHost(input);
  if (!tensor.ok()) return tensor.status();
  if (device_.is_cpu()) return may_be_written ? tensor->clone() : *tensor;
  if (unified_ == nullptr) return tensor->to(device_, IsRegistered(input.data, input.bytes));
  std::optional<at::Tensor> in_place;
  if (!may_be_written) {
    in_place = unified_->InPlace(input.data, input.bytes, tensor->scalar_type(), tensor->sizes());
  }
  return in_place.has_value() ? *in_place : unified_->Copied(*tensor);
}

absl::Status TorchRuntime::CopyIn(const InputTensor& input, const at::Tensor& target) const {
  const absl::StatusOr<at::Tensor> tensor = OnHost(input);
  if (!tensor.ok()) return tensor.status();
  const bool is_whole = tensor->dim() == 0 || tensor->size(0) == target.size(0);
  (is_whole ? target : target.narrow(0, 0, tensor->size(0)))
      .copy_(*tensor, IsRegistered(input.data, input.bytes));
  return absl::OkStatus();
}

void TorchRuntime::CopyOut(const at::Tensor& tensor, void* target) const {
  if (unified_ != nullptr && !tensor.is_cpu()) return unified_->CopyOut(tensor, target);
  CopyOutput(tensor, target, /*non_blocking=*/device_.is_cuda());
}

absl::Status TorchRuntime::Finish(uint32_t lane) const {
  if (!leases_[lane].held()) return absl::OkStatus();
  return unified_ != nullptr ? unified_->Finish()
                             : stream_device_->Synchronize(leases_[lane].stream());
}

absl::Status InModel(const LoadOrder& order, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("model '", order.model, "': ", status.message()));
}

absl::Status ModelFailure(const absl::Status& status) {
  if (status.ok() || absl::StartsWith(status.message(), "PyTorch execute failure")) return status;
  return absl::FailedPreconditionError(ExecuteFailure(status.message()).message());
}

}  // namespace mpsd
