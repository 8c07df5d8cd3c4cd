// messages: the control socket's messages between the front end and one worker, and their framing.
//
// A message is a 12-byte header {magic, version, length}, then that many bytes of JSON, with
// descriptors beside the first byte:
//
//   │ magic │ version │ length │ length bytes of JSON, at most kMaxMessageBytes │
//   ▲ at most kMaxMessageFds descriptors travel with this byte
//
// Nothing of a request ever passes here: orders and reports are rare, and each one is bounded. A
// worker's life:
//
//   front end                                   worker
//   LoadOrder            ────────────────▶      loads the model
//                        ◀────────────────      LoadReport, or Failure and exit
//   where several workers of a model share its weights on a device:
//   ShareWeights         ────────────────▶      moves its weights to memory that others can map
//                        ◀────────────────      WeightsTold + fd
//   UseWeights + fd      ────────────────▶      maps those of another, if they are like its own
//                        ◀────────────────      WeightsTold
//   AttachOrder + fds    ────────────────▶      maps the segments, starts and warms the lanes
//                        ◀────────────────      Ready, or Failure and exit
//   then, as memory is added and removed while it serves:
//   SlabsAdded + fd      ────────────────▶      maps it
//                        ◀────────────────      SlabsMapped
//   SlabsRemoved         ────────────────▶      unmaps it
//                        ◀────────────────      SlabsUnmapped
//
// End of file, on either side, means that the other process is dead or gives up. A message that
// comes when it is not expected, or is not understood, ends the worker: the front end kills a
// worker that sends one, and a worker that receives one exits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/files/file_stamp.h"
#include "proto/link/model_format.h"
#include "proto/link/model_spec.h"
#include "proto/link/precision.h"
#include "proto/link/sandbox_level.h"
#include "proto/link/warm_up.h"
#include "proto/link/warm_up_sample.h"
#include "proto/link/worker_runtime.h"

namespace mpsd {

inline constexpr uint32_t kLinkVersion = 1;

// The exit code of a worker whose device answers nothing more to it. A new worker may be able to
// use it.
inline constexpr int kWorkerExitDeviceLost = 5;

// Orders a worker to load a model. The spec is the config's, possibly incomplete. A model that is
// one file comes with a descriptor: of the file that had the stamp, also where another has its name
// by now.
struct LoadOrder {
  std::string model;
  ModelFormat format = ModelFormat::kTorchScript;
  std::string path;
  std::string opened_path{};  // by which the worker opens its descriptor; empty: `path`; never sent
  FileStamp stamp;     // of the file that all workers of the generation load; all zero: of any
  std::string device;  // "auto", "cpu", "cuda:0", "mps"
  Precision precision = Precision::kAsSaved;
  WarmUp warmup = WarmUp::kAuto;
  std::vector<WarmUpSample> warmup_samples{};  // empty: the lanes warm up with zeros
  int64_t keep_warm_ns = 0;  // a lane runs one of those after so long without a batch; 0: never
  SandboxLevel sandbox = SandboxLevel::kBasic;
  uint32_t epoch = 0;
  uint32_t lanes = 1;
  uint32_t threads = 1;               // of an inference, at most
  uint32_t cores = 1;                 // that the inferences of all lanes share
  uint32_t memory_share_percent = 0;  // of the device's memory, for this process; 0: not divided
  ModelSpec spec;
  std::map<std::string, std::string> parameters;

  // What the worker opens. `path` is for the words that people read.
  const std::string& file() const { return opened_path.empty() ? path : opened_path; }
};

// The labels that a model may have, and their bytes together: a report of them stays far below
// kMaxMessageBytes, also where each byte is escaped.
inline constexpr size_t kMaxLabels = 10'000;
inline constexpr size_t kMaxLabelsBytes = 256 << 10;

// Reports that the model is loaded. The spec is complete.
struct LoadReport {
  ModelSpec spec;
  std::string device;
  uint32_t lanes = 0;    // that the worker will run, at most as many as ordered; 0: as ordered
  std::string demotion;  // why they are fewer
  Precision precision = Precision::kAsSaved;  // that it computes in; never kAuto
  std::string precision_note{};               // how kAuto came to it; empty: it was told
  std::vector<std::string> labels{};          // of a row's classes, by number; empty: it has none
  WorkerRuntime runtime{};
  uint64_t weight_bytes = 0;  // of the device's memory, which other workers could share; 0: none
};

// Orders a worker to move its weights to memory of the device that other processes can map.
struct ShareWeights {};

// Orders a worker to give up its own weights for those of another, with their descriptor.
struct UseWeights {};

// Answers either: the bytes that the worker shares from now on, with their descriptor after
// ShareWeights. 0: it has weights of its own, and `why` says why.
struct WeightsTold {
  uint64_t bytes = 0;
  std::string why{};
};

// Hands over the shared memory. Descriptors, in this order: mailbox, worker segment, the ring end
// of the front end's bell, then one for each slab segment, whose numbers count from 0.
struct AttachOrder {
  uint64_t layout_hash = 0;
  uint64_t mailbox_bytes = 0;
  uint64_t worker_segment_bytes = 0;
  std::vector<uint64_t> slab_segment_bytes;
};

// Reports that the lanes watch their rings. They are warm unless the warm-up ended early, which
// the warning then says.
struct Ready {
  std::string warning{};
};

// Reports that the worker cannot serve. The worker exits after this. The text is for the operator.
struct Failure {
  std::string text;
  bool lasting = false;  // the next worker would fail alike: the file or the order is at fault
};

// Announces a further slab segment, with its descriptor. No batch names the segment until every
// worker has answered SlabsMapped.
struct SlabsAdded {
  uint32_t number = 0;
  uint64_t bytes = 0;
};
struct SlabsMapped {
  uint32_t number = 0;
};

// Announces that no batch names the segment any more. Its number is used again only after every
// worker has answered SlabsUnmapped.
struct SlabsRemoved {
  uint32_t number = 0;
};
struct SlabsUnmapped {
  uint32_t number = 0;
};

using Message =
    std::variant<LoadOrder, LoadReport, ShareWeights, UseWeights, WeightsTold, AttachOrder, Ready,
                 Failure, SlabsAdded, SlabsMapped, SlabsRemoved, SlabsUnmapped>;

// Blocks until the whole message is written. For a worker, whose socket blocks.
absl::Status SendMessage(int socket, const Message& message, absl::Span<const int> fds = {});

// Sends messages to a peer that may not be reading: bytes that the socket does not take at once
// wait here, up to a bound. The supervisor has one for each worker, and so never waits for a
// worker. Thread-compatible.
class MessageWriter {
 public:
  // Queues a message, with copies of the descriptors. RESOURCE_EXHAUSTED when more than 5 MiB would
  // wait, and nothing is queued then; the peer should then be given up.
  absl::Status Queue(const Message& message, absl::Span<const int> fds = {});

  // Sends as much as the socket takes now. Called again, when the socket is writable, until
  // empty(). An error means that the peer is gone.
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

// Assembles messages from a stream socket. Treats the peer as hostile: anything but whole,
// well-formed messages of this version is an error, after which the socket must not be read again.
// Lives on the thread that reads the socket.
class MessageReader {
 public:
  struct Received {
    Message message;
    std::vector<UniqueFd> fds;
  };

  // Reads once from the socket; blocks only if the socket does and holds nothing. UNAVAILABLE at
  // end of file, OUT_OF_RANGE when no whole message is there yet.
  absl::StatusOr<Received> Read(int socket);

 private:
  std::string buffer_;
  std::vector<UniqueFd> fds_;
};

}  // namespace mpsd
