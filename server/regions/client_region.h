// ClientRegion: memory that a client registered: a range of a shared-memory object, or memory of a
// CUDA device.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/base/platform.h"
#include "server/request/device_copier.h"

namespace mpsd {

// What the client said of the region, and nothing else. Believed only once the region is open.
struct RegionSpec {
  std::string name;     // as the client's requests call it
  std::string key;      // of the shared-memory object; empty: device memory
  uint64_t offset = 0;  // into the object
  uint64_t bytes = 0;
  std::string handle{};  // of device memory, as the driver made it
  int64_t device = 0;
};

// Device memory that the copier has open: a number that the DeviceCopier knows. The destructor
// closes it, without waiting for the device. The copier outlives it. Move-only, thread-compatible.
class OpenDeviceMemory {
 public:
  OpenDeviceMemory() = default;
  OpenDeviceMemory(DeviceCopier* copier, uint64_t region) : copier_(copier), region_(region) {}
  OpenDeviceMemory(OpenDeviceMemory&& other) noexcept
      : copier_(std::exchange(other.copier_, nullptr)), region_(other.region_) {}
  OpenDeviceMemory& operator=(OpenDeviceMemory&& other) = delete;
  ~OpenDeviceMemory() {
    if (copier_ != nullptr) copier_->Close(region_);
  }

  DeviceCopier* copier() const { return copier_; }
  uint64_t region() const { return region_; }

 private:
  DeviceCopier* copier_ = nullptr;
  uint64_t region_ = 0;
};

// An open region. Shared by the table of regions and by the requests that use it: a region that was
// unregistered stays open until those requests have ended.
//
//   the client    shm_open, mmap, writes tensors      cudaMalloc, cudaIpcGetMemHandle
//   Register      Open(): the object's name           CheckDevice(), OpenDevice(): the handle
//   a request     Read(), Write(): a system call      Read(), Write(): an order to the copier
//                 on the thread that needs it         in a task of the copier
//
// An object is read and written as a file and never mapped on Linux, so that a client that
// truncates its object fails its own requests and nothing else (decision 0010). Nothing keeps a
// client from writing to its memory while it is read: whoever reads checks the copy, never the
// region.
//
// Device memory is opened, read and written only in tasks of the copier. Constant but for its
// bytes, which are the client's. Thread-safe.
class ClientRegion {
 public:
  // Opens a shared-memory object. INVALID_ARGUMENT, in words that clients match on, when no object
  // has the key or the object does not hold the range. A key is a name in one folder, so that no
  // client names a file elsewhere.
  static absl::StatusOr<ClientRegion> Open(RegionSpec spec);

  // Device memory is opened in two steps. CheckDevice() checks what can be checked without the
  // device. OpenDevice() does the rest and blocks; it is called in a task of the copier with a spec
  // that passed CheckDevice().
  static absl::Status CheckDevice(const RegionSpec& spec);
  static absl::StatusOr<ClientRegion> OpenDevice(RegionSpec spec, DeviceCopier* copier);

  bool is_device() const { return device_.copier() != nullptr; }
  const RegionSpec& spec() const { return spec_; }

  // True when both regions hold a byte of the same object, whatever names they were opened by. All
  // regions of one device handle overlap.
  bool Overlaps(const ClientRegion& other) const;

  // INVALID_ARGUMENT unless the range lies in the region, in words that clients match on. Asked
  // when a request names the range, before its bytes are copied.
  absl::Status CheckRange(uint64_t offset, uint64_t bytes) const;

  // Copy from and to the region. INVALID_ARGUMENT when the object no longer holds the range; for
  // device memory fail as DeviceCopier does, and are called in a task of the copier. REQUIRES:
  // CheckRange() accepts the range.
  absl::Status Read(uint64_t offset, absl::Span<char> target) const;
  absl::Status Write(uint64_t offset, absl::Span<const char> source) const;

 private:
  ClientRegion(RegionSpec spec, platform::NamedMemory memory)
      : spec_(std::move(spec)), memory_(std::move(memory)) {}
  ClientRegion(RegionSpec spec, OpenDeviceMemory device)
      : spec_(std::move(spec)), device_(std::move(device)) {}

  RegionSpec spec_;
  platform::NamedMemory memory_;
  OpenDeviceMemory device_;
};

}  // namespace mpsd
