// CudaDriver: the few functions of CUDA's driver that copies need, found when the program runs.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/copier_records.h"

namespace mpsd {

// How a call of the driver went.
struct DriverVerdict {
  CopyResult result = CopyResult::kDone;
  int32_t code = 0;

  bool ok() const { return result == CopyResult::kDone; }
};

// An address of a device.
using DevicePointer = unsigned long long;

// Thread-compatible, and used on one thread: which device is current is the thread's. No header of
// CUDA's is needed to build it, and no library of CUDA's until Load() is called.
class CudaDriver {
 public:
  CudaDriver() = default;
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  // Loads and starts the driver. To be called once, before anything else.
  DriverVerdict Load();

  uint64_t device_count() const { return contexts_.size(); }

  // Memory of another process's, and how many bytes lie from `pointer` to the end of what it has
  // allocated there.
  DriverVerdict Open(int64_t device, const char* handle, DevicePointer* pointer, uint64_t* bytes);
  void Close(int64_t device, DevicePointer pointer);

  DriverVerdict Read(int64_t device, DevicePointer source, absl::Span<char> target);
  DriverVerdict Write(int64_t device, absl::Span<const char> source, DevicePointer target);

  // Lets devices reach the memory themselves, which makes copies faster where it works.
  void PinMemory(absl::Span<const char> memory, bool read_only);

 private:
  using Context = struct DriverContext*;
  struct Handle {
    char bytes[kDeviceHandleBytes];
  };
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
  struct Pinned {
    absl::Span<const char> memory;
    bool read_only = false;
    bool tried = false;
  };

  bool FindFunctions(void* library);
  DriverVerdict Use(int64_t device);

  Functions call_;
  std::vector<Context> contexts_;  // of each device, null until it is used
  std::vector<Pinned> pinned_;
};

}  // namespace mpsd
