#include "copier/cuda_driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "proto/base/check.h"

namespace mpsd {
namespace {

// The driver's error numbers, with the names that its header gives them.
constexpr int kSuccess = 0;
constexpr int kDeinitialized = 4;
constexpr int kErrorNoDevice = 100;
constexpr int kFirstLaunchError = 700;  // most errors from here on make a context useless
constexpr int kLastLaunchError = 720;
constexpr int kUnknown = 999;
constexpr unsigned int kLazyPeerAccess = 1;
constexpr unsigned int kRegisterPortable = 1;
constexpr unsigned int kRegisterReadOnly = 8;
constexpr int kMostDevices = 64;

bool IsLost(int code) {
  return code == kDeinitialized || code == kUnknown ||
         (code >= kFirstLaunchError && code <= kLastLaunchError);
}

DriverVerdict Verdict(int code, CopyResult fault) {
  if (code == kSuccess) return {};
  return {IsLost(code) ? CopyResult::kLost : fault, code};
}

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

bool CudaDriver::FindFunctions(void* library) {
  return Find(library, "cuInit", &call_.init) &&
         Find(library, "cuDeviceGetCount", &call_.device_count) &&
         Find(library, "cuDeviceGet", &call_.device) &&
         Find(library, "cuDevicePrimaryCtxRetain", &call_.retain_context) &&
         Find(library, "cuCtxSetCurrent", &call_.use_context) &&
         Find(library, "cuIpcOpenMemHandle_v2", &call_.open_memory) &&
         Find(library, "cuIpcCloseMemHandle", &call_.close_memory) &&
         Find(library, "cuMemGetAddressRange_v2", &call_.address_range) &&
         Find(library, "cuMemcpyDtoH_v2", &call_.copy_to_host) &&
         Find(library, "cuMemcpyHtoD_v2", &call_.copy_to_device) &&
         Find(library, "cuMemHostRegister_v2", &call_.register_host);
}

DriverVerdict CudaDriver::Load() {
  MPSD_CHECK(call_.init == nullptr);
  // The library stays loaded until the process ends.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || !FindFunctions(library)) return {CopyResult::kNoDriver, 0};
  int code = call_.init(0);
  int count = 0;
  if (code == kSuccess) code = call_.device_count(&count);
  if (code == kErrorNoDevice || (code == kSuccess && count < 1)) {
    return {CopyResult::kNoDevice, code};
  }
  if (code != kSuccess) return {CopyResult::kFailed, code};
  contexts_.resize(static_cast<size_t>(std::min(count, kMostDevices)));
  return {};
}

// Makes the device's primary context current on this thread. The context is kept until the process
// ends.
DriverVerdict CudaDriver::Use(int64_t device) {
  if (device < 0 || device >= static_cast<int64_t>(contexts_.size())) {
    return {CopyResult::kBadDevice, 0};
  }
  Context& context = contexts_[static_cast<size_t>(device)];
  if (context == nullptr) {
    int number = 0;
    int code = call_.device(&number, static_cast<int>(device));
    if (code == kSuccess) code = call_.retain_context(&context, number);
    if (code != kSuccess) return Verdict(code, CopyResult::kBadDevice);
  }
  const int code = call_.use_context(context);
  if (code != kSuccess) return Verdict(code, CopyResult::kFailed);
  for (Pinned& pinned : pinned_) {
    if (std::exchange(pinned.tried, true)) continue;
    const unsigned int flags = kRegisterPortable | (pinned.read_only ? kRegisterReadOnly : 0);
    call_.register_host(const_cast<char*>(pinned.memory.data()), pinned.memory.size(), flags);
  }
  return {};
}

void CudaDriver::PinMemory(absl::Span<const char> memory, bool read_only) {
  pinned_.push_back({memory, read_only});
}

DriverVerdict CudaDriver::Open(int64_t device, const char* handle, DevicePointer* pointer,
                               uint64_t* bytes) {
  if (const DriverVerdict used = Use(device); !used.ok()) return used;
  Handle copy;
  std::memcpy(copy.bytes, handle, sizeof(copy.bytes));
  int code = call_.open_memory(pointer, copy, kLazyPeerAccess);
  if (code != kSuccess) return Verdict(code, CopyResult::kBadHandle);
  DevicePointer base = 0;
  size_t range_bytes = 0;
  code = call_.address_range(&base, &range_bytes, *pointer);
  if (code == kSuccess && *pointer >= base && *pointer - base <= range_bytes) {
    *bytes = range_bytes - (*pointer - base);
    return {};
  }
  call_.close_memory(*pointer);
  return code == kSuccess ? DriverVerdict{CopyResult::kBadHandle, 0}
                          : Verdict(code, CopyResult::kBadHandle);
}

void CudaDriver::Close(int64_t device, DevicePointer pointer) {
  if (Use(device).ok()) call_.close_memory(pointer);
}

DriverVerdict CudaDriver::Read(int64_t device, DevicePointer source, absl::Span<char> target) {
  if (const DriverVerdict used = Use(device); !used.ok()) return used;
  return Verdict(call_.copy_to_host(target.data(), source, target.size()), CopyResult::kFailed);
}

DriverVerdict CudaDriver::Write(int64_t device, absl::Span<const char> source,
                                DevicePointer target) {
  if (const DriverVerdict used = Use(device); !used.ok()) return used;
  return Verdict(call_.copy_to_device(target, source.data(), source.size()), CopyResult::kFailed);
}

}  // namespace mpsd
