// ClientRegion: a client's shared-memory object or memory of a CUDA device.
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

// The client's own words, trusted once the region is open.
struct RegionSpec {
  std::string name;     // in the client's requests
  std::string key;      // the object's; empty: device memory
  uint64_t offset = 0;  // in the object
  uint64_t bytes = 0;
  std::string handle{};  // the driver's, for device memory
  int64_t device = 0;
};

// Device memory that the copier has open. The destructor closes it without waiting for the device.
// The copier outlives this. Moved only. Thread-compatible.
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

// An open region. Shared by the table and the requests that use it, so an unregistered one stays
// open until these have ended.
//
//   the client    shm_open, mmap, writes tensors      cudaMalloc, cudaIpcGetMemHandle
//   Register      Open(): the object's name           CheckDevice(), OpenDevice(): the handle
//
//   a request     Read(), Write(): a system call      Read(), Write(): an order to the copier
//                 on the thread that needs it         in a task of the copier
//
// On Linux an object is read as a file, never mapped: a client that truncates it fails only its own
// requests (decision 0010). The client may write meanwhile, so readers check the copy. Device
// memory is used only in tasks of the copier. Constant except its bytes. Thread-safe.
class ClientRegion {
 public:
  // INVALID_ARGUMENT, in words that clients match on, without such an object or range.
  static absl::StatusOr<ClientRegion> Open(RegionSpec spec);

  // CheckDevice() makes the checks that need no device. OpenDevice() then does the rest and blocks,
  // in a task of the copier.
  static absl::Status CheckDevice(const RegionSpec& spec);
  static absl::StatusOr<ClientRegion> OpenDevice(RegionSpec spec, DeviceCopier* copier);

  bool is_device() const { return device_.copier() != nullptr; }
  const RegionSpec& spec() const { return spec_; }

  // True for a common byte of one object, under any names. All regions of a device handle overlap.
  bool Overlaps(const ClientRegion& other) const;

  // INVALID_ARGUMENT, likewise, unless the range lies in the region.
  absl::Status CheckRange(uint64_t offset, uint64_t bytes) const;

  // INVALID_ARGUMENT if the object no longer holds the range. RESOURCE_EXHAUSTED if the host lacks
  // memory for an untouched page. For device memory as DeviceCopier, in a task of the copier.
  // REQUIRES: CheckRange() accepts the range.
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
