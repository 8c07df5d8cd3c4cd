// DeviceMemory: memory of a device that several processes map.
//
// It lasts until the last mapping and the last descriptor are gone, in any process. The front end
// keeps a descriptor, so the memory outlives each worker.
//
//   Make ─▶ fill ─▶ Protect ─▶ Export ─▶ descriptor ─▶ Open     in another process, read-only
//
//   cpu     host_memory, a memory file
//   cuda    cuda_memory, the driver's
//   mps     none
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/fd.h"

namespace mpsd {

// Its destructor unmaps. Thread-compatible: made and protected on the main thread, before lanes
// read it.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  // The device's address and at least the number of bytes asked for. The address begins a page, and
  // so suits every kernel.
  virtual char* data() const = 0;
  virtual uint64_t bytes() const = 0;

  // Makes the memory read-only for this process, even for device work. Does not wait for queued
  // work.
  virtual absl::Status Protect() = 0;

  // Each call makes a new descriptor, which the caller closes.
  virtual absl::StatusOr<UniqueFd> Export() const = 0;
};

// Owned by the runtime of a model. Lives on the main thread, before there are lanes. The memory
// outlives its source.
class DeviceMemorySource {
 public:
  virtual ~DeviceMemorySource() = default;

  // RESOURCE_EXHAUSTED: the device has no such room.
  virtual absl::StatusOr<std::unique_ptr<DeviceMemory>> Make(uint64_t bytes) = 0;

  // Maps read-only what another process has made with that many bytes. FAILED_PRECONDITION: the
  // descriptor is not for such memory, or the memory is smaller.
  virtual absl::StatusOr<std::unique_ptr<DeviceMemory>> Open(UniqueFd descriptor,
                                                             uint64_t bytes) = 0;
};

}  // namespace mpsd
