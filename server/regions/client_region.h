// ClientRegion: memory that a client registered: part of a shared-memory object, or memory of a
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

// The client's own description of the region. Trusted only once the region is open.
struct RegionSpec {
  std::string name;     // name in the client's requests
  std::string key;      // the shared-memory object; empty: device memory
  uint64_t offset = 0;  // in the object
  uint64_t bytes = 0;
  std::string handle{};  // device memory only: the driver's handle
  int64_t device = 0;
};

// Device memory that the copier has open, by its number at the DeviceCopier. The destructor closes
// it, without waiting for the device. The copier outlives it. Move-only, thread-compatible.
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

// An open region. Shared by the table of regions and by the requests that use it, so it stays open
// until those have ended, even if unregistered.
//
//   the client    shm_open, mmap, writes tensors      cudaMalloc, cudaIpcGetMemHandle
//   Register      Open(): the object's name           CheckDevice(), OpenDevice(): the handle
//
//   a request     Read(), Write(): a system call      Read(), Write(): an order to the copier
//                 on the thread that needs it         in a task of the copier
//
// On Linux an object is read and written as a file, never mapped: a client that truncates its
// object fails only its own requests (decision 0010). A client may write to its memory while it is
// read, so readers check the copy, never the region.
//
// Device memory is opened, read and written only in tasks of the copier. Constant except for its
// bytes, which belong to the client. Thread-safe.
class ClientRegion {
 public:
  // Opens a shared-memory object. INVALID_ARGUMENT, in words that clients match on, if no object
  // has the key or the object does not hold the range.
  static absl::StatusOr<ClientRegion> Open(RegionSpec spec);

  // Device memory is opened in two steps. CheckDevice() makes the checks that need no device.
  // OpenDevice() does the rest and blocks, in a task of the copier. REQUIRES: the spec passed
  // CheckDevice().
  static absl::Status CheckDevice(const RegionSpec& spec);
  static absl::StatusOr<ClientRegion> OpenDevice(RegionSpec spec, DeviceCopier* copier);

  bool is_device() const { return device_.copier() != nullptr; }
  const RegionSpec& spec() const { return spec_; }

  // True if both regions contain a byte of the same object, under any names. All regions of one
  // device handle overlap.
  bool Overlaps(const ClientRegion& other) const;

  // INVALID_ARGUMENT, in words that clients match on, unless the range lies in the region. Called
  // when a request names the range, before its bytes are copied.
  absl::Status CheckRange(uint64_t offset, uint64_t bytes) const;

  // Copy from and to the region. INVALID_ARGUMENT if the object no longer holds the range.
  // RESOURCE_EXHAUSTED if the host has no memory for a page that the client has never touched. For
  // device memory they are called in a task of the copier and fail as DeviceCopier does. REQUIRES:
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
