#include "worker/model/torch/torch_device.h"

#include <dlfcn.h>
#include <unistd.h>

#include <optional>

#include "ATen/Version.h"
#include "ATen/detail/MPSHooksInterface.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "c10/core/DeviceGuard.h"
#include "c10/core/impl/VirtualGuardImpl.h"
#include "torch/version.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/runtime/runtime_detection.h"
#include "worker/model/shared_library.h"
#include "worker/model/torch/libtorch_versions.h"
#include "worker/model/torch/mps_stream_wait.h"

namespace mpsd {
namespace {

// OK when libtorch has code for devices of this type. The code for cuda is a library of its own,
// which stays loaded for the life of the process.
absl::Status LoadRuntime(c10::DeviceType type) {
  if (c10::impl::hasDeviceGuardImpl(type)) return absl::OkStatus();
  if (type == c10::DeviceType::CUDA) {
    if (absl::Status status = LoadForGood("libtorch_cuda.so"); !status.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("CUDA's libraries are not beside the libtorch in use: ", status.message()));
    }
    if (c10::impl::hasDeviceGuardImpl(type)) return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the libtorch in use was built without ", c10::DeviceTypeName(type, /*lower_case=*/true)));
}

int CountDevices(c10::DeviceType type) {
  return LoadRuntime(type).ok() ? c10::impl::VirtualGuardImpl(type).deviceCount() : 0;
}

// Loading libtorch_cuda costs seconds, so "auto" looks for the driver first.
bool HasCudaDriver() { return access("/dev/nvidiactl", F_OK) == 0; }

c10::Device PickAutomatically() {
  if (HasCudaDriver() && CountDevices(c10::DeviceType::CUDA) > 0) {
    return c10::Device(c10::DeviceType::CUDA, 0);
  }
  if (CountDevices(c10::DeviceType::MPS) > 0) return c10::Device(c10::DeviceType::MPS, 0);
  return c10::Device(c10::DeviceType::CPU);
}

absl::Status CheckThere(const std::string& name, c10::Device device) {
  if (device.is_cpu()) return absl::OkStatus();
  const std::string type = c10::DeviceTypeName(device.type(), /*lower_case=*/true);
  if (absl::Status status = LoadRuntime(device.type()); !status.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("device '", name, "': ", status.message()));
  }
  const int count = CountDevices(device.type());
  if (device.index() < count) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("device '", name, "': there are ", count, " ", type, " devices"));
}

// Looks among all symbols of the process, libtorch's included.
bool HasSymbol(const char* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; }

// Up to torch 2.14 c10's guard knows only one mps stream, unless that torch is patched
// (worker/libtorch).
class GuardStreams final : public StreamDevice {
 public:
  explicit GuardStreams(c10::Device device) : device_(device), guard_(device.type()) {}

  int64_t MainStream() override {
    guard_.setDevice(device_);
    return guard_.getDefaultStream(device_).id();
  }
  int64_t NextStream() override { return guard_.getNewStream(device_).id(); }
  void MakeCurrent(int64_t stream) override {
    guard_.setDevice(device_);
    guard_.exchangeStream(Stream(stream));
  }
  // The guard of mps cannot wait for one stream. The stream is the thread's own anyway.
  absl::Status Synchronize(int64_t stream) override {
    if (device_.is_mps()) return WaitForMpsStream();
    return CatchForeign([&] {
      guard_.synchronizeStream(Stream(stream));
      return absl::OkStatus();
    });
  }

 private:
  c10::Stream Stream(int64_t id) const {
    return c10::Stream(c10::Stream::UNSAFE, device_, static_cast<c10::StreamId>(id));
  }

  const c10::Device device_;
  const c10::impl::VirtualGuardImpl guard_;
};

// Calls CUDA's runtime for this device; returns whether the call succeeded. On a thread that has
// chosen no device, the call would mean number 0, or take half a GiB there for a context.
bool SucceedsOn(c10::Device device, absl::FunctionRef<bool()> call) {
  return CatchForeign([&] {
           const c10::DeviceGuard guard(device);
           return call() ? absl::OkStatus() : absl::UnknownError("CUDA");
         })
      .ok();
}

// From "…, TORCH_VERSION=2.11.0, …".
std::string LoadedVersion() {
  constexpr absl::string_view kKey = "TORCH_VERSION=";
  const std::string config = at::show_config();
  const size_t begin = config.find(kKey.data());
  if (begin == std::string::npos) return "";
  const size_t from = begin + kKey.size();
  return config.substr(from, config.find_first_of(", \n", from) - from);
}

}  // namespace

absl::StatusOr<c10::Device> PickDevice(const std::string& name) {
  std::optional<c10::Device> device;
  const absl::Status status = CatchForeign(
      [&] {
        device = name.empty() || name == "auto" ? PickAutomatically() : c10::Device(name);
        if (!device->is_cpu() && !device->has_index()) device->set_index(0);
        absl::Status there = CheckThere(name, *device);
        // Else libtorch's first call takes memory for a context on number 0.
        if (there.ok()) c10::impl::VirtualGuardImpl(device->type()).setDevice(*device);
        return there;
      },
      [&](absl::string_view what) {
        return absl::InvalidArgumentError(
            absl::StrCat("device '", name, "': ", MeaningfulLine(what)));
      });
  if (!status.ok()) return status;
  return *device;
}

std::vector<std::string> DeviceNames() {
  std::vector<std::string> names;
  if (HasCudaDriver()) {
    const int count = CountDevices(c10::DeviceType::CUDA);
    for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("cuda:", i));
  }
  if (CountDevices(c10::DeviceType::MPS) > 0) names.push_back("mps");
  names.push_back("cpu");
  return names;
}

std::vector<std::string> CudaAddresses() {
  std::vector<std::string> addresses;
  if (!HasCudaDriver()) return addresses;
  using GetAddress = int (*)(char*, int, int);
  const int count = CountDevices(c10::DeviceType::CUDA);
  const auto get = reinterpret_cast<GetAddress>(dlsym(RTLD_DEFAULT, "cudaDeviceGetPCIBusId"));
  for (int i = 0; i < count; ++i) {
    char text[64] = "";
    const bool is_known = get != nullptr && get(text, sizeof(text), i) == 0;
    addresses.emplace_back(is_known ? text : "");
  }
  return addresses;
}

std::string DevicePassedOver() {
  if (!HasCudaDriver() || CountDevices(c10::DeviceType::CUDA) > 0) return "";
  const absl::Status runtime = LoadRuntime(c10::DeviceType::CUDA);
  return absl::StrCat("cuda: ", runtime.ok() ? "the driver shows no device to libtorch"
                                             : std::string(runtime.message()));
}

std::unique_ptr<StreamDevice> MakeStreamDevice(c10::Device device) {
  return std::make_unique<GuardStreams>(device);
}

uint32_t StreamCount(c10::Device device) { return device.is_mps() ? 31 : 32; }

void SynchronizeDevice(c10::Device device) {
  if (device.is_cpu()) return;
  c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

void ReleaseUnusedMemory(c10::Device device) {
  if (device.is_cpu()) return;
  CatchForeign([&] {
    // c10 does not know the allocator of mps.
    if (device.is_mps()) {
      at::detail::getMPSHooks().emptyCache();
    } else {
      EmptyDeviceCache(device.type());
    }
    return absl::OkStatus();
  }).IgnoreError();  // after an error libtorch keeps the memory
}

uint64_t UnusedMemoryBytes(c10::Device device, uint64_t held_bytes) {
  if (!device.is_mps()) return 0;
  uint64_t unused_bytes = 0;
  CatchForeign([&] {
    const at::MPSHooksInterface& hooks = at::detail::getMPSHooks();
    const uint64_t taken_bytes = hooks.getDriverAllocatedMemory();
    const uint64_t used_bytes = hooks.getCurrentAllocatedMemory() + held_bytes;
    unused_bytes = taken_bytes > used_bytes ? taken_bytes - used_bytes : 0;
    return absl::OkStatus();
  }).IgnoreError();  // after an error the amount is unknown
  return unused_bytes;
}

RuntimeFacts LoadedRuntime() {
  RuntimeFacts facts;
  facts.compiled_version =
      absl::StrCat(TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR, ".", TORCH_VERSION_PATCH);
  facts.loaded_version = LoadedVersion();
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&at::show_config), &info) != 0 && info.dli_fname != nullptr) {
    facts.library_path = info.dli_fname;
  }
  facts.kind = NameOf(LoadedRuntimeKind());
  return facts;
}

DriverGuardState GuardDriver(c10::Device device) {
  return HoldDriverGuard(device.str(), LoadedRuntimeKind());
}

RuntimeKind LoadedRuntimeKind() { return DetectRuntimeKind(HasSymbol); }

void UnregisterHostMemory(const void* data) {
  using Unregister = int (*)(void*);
  const auto unregister = reinterpret_cast<Unregister>(dlsym(RTLD_DEFAULT, "cudaHostUnregister"));
  if (unregister != nullptr) unregister(const_cast<void*>(data));
}

bool RegisterHostMemory(c10::Device device, const void* data, uint64_t bytes, HostMemoryUse use) {
  if (!device.is_cuda()) return false;
  // Declared here so that CUDA's headers are not needed.
  using Register = int (*)(void*, size_t, unsigned int);
  constexpr unsigned int kPortable = 0x01;
  constexpr unsigned int kReadOnly = 0x08;
  const auto host_register = reinterpret_cast<Register>(dlsym(RTLD_DEFAULT, "cudaHostRegister"));
  const unsigned int flags = use == HostMemoryUse::kRead ? kPortable | kReadOnly : kPortable;
  return host_register != nullptr && SucceedsOn(device, [&] {
           return host_register(const_cast<void*>(data), bytes, flags) == 0;
         });
}

std::optional<double> FreeMemoryShare(c10::Device device) {
  if (!device.is_cuda()) return std::nullopt;
  using GetInfo = int (*)(size_t*, size_t*);
  const auto get_info = reinterpret_cast<GetInfo>(dlsym(RTLD_DEFAULT, "cudaMemGetInfo"));
  size_t free = 0;
  size_t total = 0;
  if (get_info == nullptr) return std::nullopt;
  const bool is_known = SucceedsOn(device, [&] { return get_info(&free, &total) == 0; });
  if (!is_known || total == 0) return std::nullopt;
  return static_cast<double>(free) / static_cast<double>(total);
}

}  // namespace mpsd
