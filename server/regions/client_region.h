// ClientRegion: memory that a client has registered: a range of a shared-memory object, or memory
// of a CUDA device.
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

// What a client said of it.
struct RegionSpec {
  std::string name;     // what its requests call it
  std::string key;      // the object's, with which it is opened; empty: it is a device's
  uint64_t offset = 0;  // into the object
  uint64_t bytes = 0;
  std::string handle{};  // of a device's memory
  int64_t device = 0;
};

// Memory that the copier has open, until this goes. Thread-compatible, move-only.
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

// Thread-safe. Shared by the table of regions and by the requests that use it: memory that was
// unregistered stays until these have ended. It is copied from and to, never mapped: what the
// client does to the object meanwhile is an error of the requests that use it, and no more. Memory
// of a device is opened, read and written in tasks of the copier only.
class ClientRegion {
 public:
  // Opens the object. INVALID_ARGUMENT, in the client's words, when there is none of that key or
  // it does not hold the range.
  static absl::StatusOr<ClientRegion> Open(RegionSpec spec);

  // The same for memory of a device: what can be said of the spec at once and, in a task, the rest.
  static absl::Status CheckDevice(const RegionSpec& spec);
  static absl::StatusOr<ClientRegion> OpenDevice(RegionSpec spec, DeviceCopier* copier);

  bool is_device() const { return device_.copier() != nullptr; }
  const RegionSpec& spec() const { return spec_; }

  // Whether both have a byte of one object.
  bool Overlaps(const ClientRegion& other) const;

  // INVALID_ARGUMENT unless the range lies in the region.
  absl::Status CheckRange(uint64_t offset, uint64_t bytes) const;

  // INVALID_ARGUMENT when the object does not hold the range any more; of a device, as DeviceCopier
  // says. REQUIRES: it lies in the region.
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
