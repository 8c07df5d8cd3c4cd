// CudaDriver: the few functions of CUDA's driver that copies need, looked up at run time.
//
// mpsd-device-copier is built and started without CUDA: Load() opens libcuda.so.1, which comes with
// the driver. So one binary runs on hosts with and without a device. A driver that crashes or hangs
// takes only this small process with it, not the front end (decision 0012).
//
//   Load ─▶ PinMemory … ─▶ for each region: Open ─▶ Read, Write … ─▶ Close
//
// OpenRegions (open_regions.h) checks the front end's orders. This class trusts its arguments and
// reports the driver's errors.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/copier_records.h"

namespace mpsd {

// The outcome of a call to the driver: a result for the front end, and the driver's own code.
struct DriverVerdict {
  CopyResult result = CopyResult::kDone;
  int32_t code = 0;

  bool ok() const { return result == CopyResult::kDone; }
};

// An address in a device's memory.
using DevicePointer = unsigned long long;

// Builds without CUDA's headers, and links no library of CUDA before Load(). Owned by the copier's
// main. Thread-compatible, and used on one thread, because the driver keeps the current device for
// each thread. Calls block until the device has finished. Any call may return kLost; the process
// must then end.
class CudaDriver {
 public:
  CudaDriver() = default;
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  // Loads and starts the driver. Called once, before anything else. kNoDriver or kNoDevice if the
  // host has none.
  DriverVerdict Load();

  // How many devices Load() found, at most 64; they are numbered from 0.
  uint64_t device_count() const { return contexts_.size(); }

  // Opens memory of another process, which `handle` (kDeviceHandleBytes) names. Sets `bytes` to the
  // distance from `pointer` to the end of that allocation, so that the caller can check the
  // client's claim. Close() releases the memory. kBadDevice or kBadHandle: nothing is open.
  DriverVerdict Open(int64_t device, const char* handle, DevicePointer* pointer, uint64_t* bytes);
  void Close(int64_t device, DevicePointer pointer);

  // Copy from and to opened memory. The caller has checked the range.
  DriverVerdict Read(int64_t device, DevicePointer source, absl::Span<char> target);
  DriverVerdict Write(int64_t device, absl::Span<const char> source, DevicePointer target);

  // Lets devices read or write the memory directly, which makes copies faster if it is possible.
  // Takes effect at the first use of a device; a failure is ignored. The memory stays mapped as
  // long as the process.
  void PinMemory(absl::Span<const char> memory, bool read_only);

 private:
  using Context = struct DriverContext*;
  struct Handle {
    char bytes[kDeviceHandleBytes];
  };
  // The driver's functions, found in its library; all set, or Load() failed.
  struct Functions {
    int (*init)(unsigned int) = nullptr;
    int (*device_count)(int*) = nullptr;
    int (*device)(int*, int) = nullptr;
    int (*retain_context)(Context*, int) = nullptr;
    int (*use_context)(Context) = nullptr;
    int (*open_memory)(DevicePointer*, Handle, unsigned int) = nullptr;
    int (*close_memory)(DevicePointer) = nullptr;
    int (*address_range)(DevicePointer*, size_t*, DevicePointer) = nullptr;
    int (*copy_to_host)(void*, DevicePointer, size_t) = nullptr;
    int (*copy_to_device)(DevicePointer, const void*, size_t) = nullptr;
    int (*register_host)(void*, size_t, unsigned int) = nullptr;
  };
  // Memory for PinMemory(). Registered with the driver at the first use of a device.
  struct Pinned {
    absl::Span<const char> memory;
    bool read_only = false;
    bool tried = false;
  };

  // False when the library lacks one of them.
  bool FindFunctions(void* library);
  // Makes the device the current one of this thread; the first time, makes its context.
  DriverVerdict Use(int64_t device);

  Functions call_;
  std::vector<Context> contexts_;  // for each device; null until its first use
  std::vector<Pinned> pinned_;
};

}  // namespace mpsd
