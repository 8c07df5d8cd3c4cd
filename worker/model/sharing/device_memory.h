// DeviceMemory: memory of a device that several processes map.
//
// One process makes the memory and gives the others a descriptor. The memory lasts until the last
// mapping and the last descriptor are gone, in any process. The front end keeps a descriptor that
// it never maps, so the memory outlives each worker.
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

// A piece of mapped memory; its destructor unmaps it. Thread-compatible: made and protected on the
// main thread, before lanes read it.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  // The address, valid on the device, and the number of bytes there. This is at least the number
  // asked for, because drivers give memory in large pieces. The address begins a page of the host
  // or of the device, and so suits every kernel.
  virtual char* data() const = 0;
  virtual uint64_t bytes() const = 0;

  // Makes the memory read-only for this process: device work that writes to it fails from now on.
  // Does not wait: the caller has waited for the work that fills the memory.
  virtual absl::Status Protect() = 0;

  // A descriptor by which another process can map the memory. Each call makes a new one, which the
  // caller closes; the memory stays while it is open.
  virtual absl::StatusOr<UniqueFd> Export() const = 0;
};

// Makes and opens DeviceMemory. Owned by the runtime of a model. Lives on the main thread, before
// there are lanes. The memory outlives its source.
class DeviceMemorySource {
 public:
  virtual ~DeviceMemorySource() = default;

  // New memory of at least `bytes` bytes. RESOURCE_EXHAUSTED: the device has no such room.
  virtual absl::StatusOr<std::unique_ptr<DeviceMemory>> Make(uint64_t bytes) = 0;

  // Maps read-only the memory that another process has made with that many bytes.
  // FAILED_PRECONDITION: the descriptor is not for such memory, or the memory is smaller.
  virtual absl::StatusOr<std::unique_ptr<DeviceMemory>> Open(UniqueFd descriptor,
                                                             uint64_t bytes) = 0;
};

}  // namespace mpsd
