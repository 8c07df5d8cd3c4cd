// DeviceCopier: copies from and to device memory, which the front end itself never touches.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace mpsd {

// Device memory by its owner's (a client's) description; Open() finds out whether it is true. The
// handle is the driver's, of kDeviceHandleBytes; `device` is the driver's number; `bytes` is how
// much memory the client lends.
struct DeviceMemory {
  std::string handle;
  int64_t device = 0;
  uint64_t bytes = 0;
};

// Stands beside a request's path if a client's region lies on a CUDA device. Inputs are copied
// before admission (step 2), outputs before the answer is sent (step 13). A copy blocks until the
// device is done, so all copies run in tasks, one at a time, on the copier's thread:
//
//   call's thread                copier's thread                  call's thread
//   Enqueue(task) ── returns ─▶  task: Read(), Read(), Resume() ─▶  Resumed(): admission goes on
//
// A task may call whatever any thread may call, but must not wait for another task. A status is a
// client's answer, and does not name the region. The implementation bounds a copy's time and the
// number of waiting tasks. Owned by the daemon. Implemented by regions/device. Thread-safe, except
// for the methods for tasks only.
class DeviceCopier {
 public:
  virtual ~DeviceCopier() = default;

  // Whether a device seems to be there. Tells ServerMetadata what to announce; a caller that needs
  // a device calls Open().
  virtual bool ready() const = 0;

  // Runs the task once, after earlier ones. After an error the task never runs: RESOURCE_EXHAUSTED
  // if too many wait, UNAVAILABLE if the server stops.
  virtual absl::Status Enqueue(std::function<void()> task) = 0;

  // Opens the memory and returns its number, valid until Close(). In a task only. INVALID_ARGUMENT
  // if it cannot be opened or has fewer bytes, UNIMPLEMENTED without a device.
  virtual absl::StatusOr<uint64_t> Open(const DeviceMemory& memory) = 0;

  // Block until the copy is made. In a task only. REQUIRES: the range lies in the region.
  // UNAVAILABLE if the copy failed through no fault of the client; a later one may succeed.
  virtual absl::Status Read(uint64_t region, uint64_t offset, absl::Span<char> target) = 0;
  virtual absl::Status Write(uint64_t region, uint64_t offset, absl::Span<const char> source) = 0;

  // Returns at once; the memory is released later. Called from any thread.
  virtual void Close(uint64_t region) = 0;
};

}  // namespace mpsd
