// DeviceMemory: memory of a device that several processes map.
//
// One process makes it and gives the others a descriptor, as with a memory file of the host. The
// memory lasts until the last mapping and the last descriptor are gone, whoever has them: the front
// end keeps one that it never maps, so that the memory outlives each worker.
//
//   Make ─▶ fill ─▶ Protect ─▶ Export ─▶ descriptor ─▶ Open     in another process: to read alone
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

  // The address, which the device knows, and how many bytes lie there: as many as were asked for or
  // more, since drivers give memory in large pieces. The address begins a page of the host or of
  // the device, and so suits every kernel.
  virtual char* data() const = 0;
  virtual uint64_t bytes() const = 0;

  // From now on this process can only read it: work of the device that writes there fails. Waits
  // for nothing: the caller has waited for what fills the memory.
  virtual absl::Status Protect() = 0;

  // A descriptor by which another process can map it. Each call makes one, which the caller closes;
  // the memory stays while it is open.
  virtual absl::StatusOr<UniqueFd> Export() const = 0;
};

// Where DeviceMemory comes from. Owned by the runtime of a model. Lives on the main thread, before
// there are lanes. What it has made outlives it.
class DeviceMemorySource {
 public:
  virtual ~DeviceMemorySource() = default;

  // New memory, of at least so many bytes. RESOURCE_EXHAUSTED: the device has no such room.
  virtual absl::StatusOr<std::unique_ptr<DeviceMemory>> Make(uint64_t bytes) = 0;

  // Memory that another process has made with that many bytes, to be read alone.
  // FAILED_PRECONDITION: the descriptor is of no such memory, or of less.
  virtual absl::StatusOr<std::unique_ptr<DeviceMemory>> Open(UniqueFd descriptor,
                                                             uint64_t bytes) = 0;
};

}  // namespace mpsd
