// DeviceCopier: who copies to and from memory of devices, which the front end itself never touches.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace mpsd {

// Memory of a device as its owner describes it: the driver's handle of it, and the rest.
struct DeviceMemory {
  std::string handle;
  int64_t device = 0;
  uint64_t bytes = 0;
};

// Thread-safe, but for what says that it is for tasks. Implemented by supervise/. A copy takes as
// long as a device takes, so that nothing is copied but in tasks, which run one behind the other on
// a thread of the copier's. A status is a client's answer, and says nothing of the region's name.
class DeviceCopier {
 public:
  virtual ~DeviceCopier() = default;

  // Whether a device is there, as far as is known.
  virtual bool ready() const = 0;

  // Has the task run, once. RESOURCE_EXHAUSTED when too many wait, UNAVAILABLE when the server
  // stops: it is not run then.
  virtual absl::Status Enqueue(std::function<void()> task) = 0;

  // Opens the memory; what is returned names it until Close(). In a task only. INVALID_ARGUMENT
  // when it cannot be opened or has fewer bytes, UNIMPLEMENTED where there is no device.
  virtual absl::StatusOr<uint64_t> Open(const DeviceMemory& memory) = 0;

  // In a task only. REQUIRES: the range lies in the region. UNAVAILABLE when the copy could not be
  // made for reasons that are not the client's; another may.
  virtual absl::Status Read(uint64_t region, uint64_t offset, absl::Span<char> target) = 0;
  virtual absl::Status Write(uint64_t region, uint64_t offset, absl::Span<const char> source) = 0;

  // From any thread; the memory is let go of soon.
  virtual void Close(uint64_t region) = 0;
};

}  // namespace mpsd
