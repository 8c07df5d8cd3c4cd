// The messages of the control socket between the front end and one worker, and their framing.
//
// A message is a 12-byte header {magic, version, length}, then that many bytes of JSON, with
// descriptors beside the first byte. A worker's life:
//
//   front end                                   worker
//   LoadOrder            ────────────────▶      loads the model
//                        ◀────────────────      LoadReport, or Failure and exit
//   AttachOrder + fds    ────────────────▶      maps the segments, starts and warms the lanes
//                        ◀────────────────      Ready, or Failure and exit
//   then, as memory is added and taken away while it serves:
//   SlabsAdded + fd      ────────────────▶      maps it
//                        ◀────────────────      SlabsMapped
//   SlabsRemoved         ────────────────▶      unmaps it
//                        ◀────────────────      SlabsUnmapped
//   …end of file, on either side, is the notice of the other's death.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/link/model_format.h"
#include "proto/link/model_spec.h"
#include "proto/link/sandbox_level.h"
#include "proto/link/warm_up.h"

namespace mpsd {

inline constexpr uint32_t kLinkVersion = 1;

// The exit code of a worker whose device answers nothing more to this process: a fresh one may do.
inline constexpr int kWorkerExitDeviceLost = 5;

// Load this model. The spec is what the config says, possibly in part.
struct LoadOrder {
  std::string model;
  ModelFormat format = ModelFormat::kTorchScript;
  std::string path;
  std::string device;  // "auto", "cpu", "cuda:0", "mps"
  WarmUp warmup = WarmUp::kAuto;
  SandboxLevel sandbox = SandboxLevel::kBasic;
  uint32_t epoch = 0;
  uint32_t lanes = 1;
  uint32_t threads = 1;
  uint32_t memory_share_percent = 0;  // of the device's memory, for this process; 0: not divided
  ModelSpec spec;
  std::map<std::string, std::string> parameters;
};

// The model is loaded; this is its complete spec.
struct LoadReport {
  ModelSpec spec;
  std::string device;
  uint32_t lanes = 0;    // that the worker will run: what was ordered, or fewer; 0: as ordered
  std::string demotion;  // why fewer
};

// The shared memory to work on. Descriptors, in this order: mailbox, worker segment, the worker's
// ring end of the front end's bell, then one a slab segment, whose numbers count from 0.
struct AttachOrder {
  uint64_t layout_hash = 0;
  uint64_t mailbox_bytes = 0;
  uint64_t worker_segment_bytes = 0;
  std::vector<uint64_t> slab_segment_bytes;
};

// The lanes are warm and listen on their rings.
struct Ready {};

// The worker cannot serve; it exits after this.
struct Failure {
  std::string text;
};

// A further slab segment, with its descriptor. No batch names it before every worker has mapped it.
struct SlabsAdded {
  uint32_t number = 0;
  uint64_t bytes = 0;
};
struct SlabsMapped {
  uint32_t number = 0;
};

// No batch names the segment any more. Its number is used again only after every worker has said
// that it let go.
struct SlabsRemoved {
  uint32_t number = 0;
};
struct SlabsUnmapped {
  uint32_t number = 0;
};

using Message = std::variant<LoadOrder, LoadReport, AttachOrder, Ready, Failure, SlabsAdded,
                             SlabsMapped, SlabsRemoved, SlabsUnmapped>;

// Blocks until all of it is written.
absl::Status SendMessage(int socket, const Message& message, absl::Span<const int> fds = {});

// Sends messages to a reader that need not be reading: what the socket does not take at once waits
// here. Thread-compatible.
class MessageWriter {
 public:
  // Takes copies of the descriptors. RESOURCE_EXHAUSTED when the reader leaves too much unread.
  absl::Status Queue(const Message& message, absl::Span<const int> fds = {});

  // Sends as much as the socket takes now. To be called again until empty().
  absl::Status Flush(int socket);

  bool empty() const { return frames_.empty(); }

 private:
  struct Frame {
    std::string bytes;
    size_t sent = 0;
    std::vector<UniqueFd> fds;
  };

  std::deque<Frame> frames_;
  size_t unsent_bytes_ = 0;
};

// Assembles messages from a stream socket. Lives on one thread. Treats what it reads as hostile:
// anything that is not a whole, well-formed message of this version is an error.
class MessageReader {
 public:
  struct Received {
    Message message;
    std::vector<UniqueFd> fds;
  };

  // Reads once from the socket; blocks only if the socket does and nothing is there.
  // UNAVAILABLE at end of file, OUT_OF_RANGE when no whole message is there yet.
  absl::StatusOr<Received> Read(int socket);

 private:
  std::string buffer_;
  std::vector<UniqueFd> fds_;
};

}  // namespace mpsd
