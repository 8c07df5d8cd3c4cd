// DeviceCopier: copies from and to device memory, which the front end itself never touches.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace mpsd {

// A client's description; Open() finds out whether it is true. The driver made the handle, of
// kDeviceHandleBytes, and numbered the device.
struct DeviceMemory {
  std::string handle;
  int64_t device = 0;
  uint64_t bytes = 0;
};

// Copies inputs before admission (step 2) and outputs before the answer (step 13), if a client's
// region lies on a CUDA device. A copy blocks, so tasks run one at a time on the copier's thread:
//
//   call's thread                copier's thread                  call's thread
//   Enqueue(task) ── returns ─▶  task: Read(), Read(), Resume() ─▶  Resumed(): admission goes on
//
// A task must not wait for another task. A status is a client's answer, without the region's name.
// A copy's time and the waiting tasks are bounded. Owned by the daemon. Implemented by
// regions/device. Thread-safe, except for the methods for tasks only.
class DeviceCopier {
 public:
  virtual ~DeviceCopier() = default;

  // Whether a device seems to be there: for ServerMetadata. Open() says for sure.
  virtual bool ready() const = 0;

  // Runs the task once. After an error it never runs: RESOURCE_EXHAUSTED if too many wait,
  // UNAVAILABLE if the server stops.
  virtual absl::Status Enqueue(std::function<void()> task) = 0;

  // In a task only. Returns a number that is valid until Close(). INVALID_ARGUMENT if the memory
  // cannot be opened or has fewer bytes, UNIMPLEMENTED without a device.
  virtual absl::StatusOr<uint64_t> Open(const DeviceMemory& memory) = 0;

  // In a task only. REQUIRES: the range lies in the region. UNAVAILABLE if the copy failed through
  // no fault of the client.
  virtual absl::Status Read(uint64_t region, uint64_t offset, absl::Span<char> target) = 0;
  virtual absl::Status Write(uint64_t region, uint64_t offset, absl::Span<const char> source) = 0;

  // Returns at once; the memory is released later.
  virtual void Close(uint64_t region) = 0;
};

}  // namespace mpsd
