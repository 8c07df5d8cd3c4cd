// messages: the control socket's messages between the front end and one worker, and their framing.
//
// A message is a 12-byte header {magic, version, length}, then that many bytes of JSON, with
// descriptors beside the first byte:
//
//   │ magic │ version │ length │ length bytes of JSON, at most kMaxMessageBytes │
//   ▲ at most kMaxMessageFds descriptors travel with this byte
//
// No part of a request ever passes here: orders and reports are rare, and each one is bounded. A
// worker's life:
//
//   front end                                   worker
//   LoadOrder            ────────────────▶      loads the model
//                        ◀────────────────      LoadReport, or Failure and exit
//
//   where several workers of a model share its weights on a device:
//   ShareWeights         ────────────────▶      moves its weights to memory that others can map
//                        ◀────────────────      WeightsTold + fd
//
//   UseWeights + fd      ────────────────▶      maps those of another, if they are like its own
//                        ◀────────────────      WeightsTold
//   AttachOrder + fds    ────────────────▶      maps the segments, starts and warms the lanes
//                        ◀────────────────      Ready, or Failure and exit
//
//   then, as memory is added and removed while it serves:
//   SlabsAdded + fd      ────────────────▶      maps it
//                        ◀────────────────      SlabsMapped
//   SlabsRemoved         ────────────────▶      unmaps it
//                        ◀────────────────      SlabsUnmapped
//
// End of file, on either side, means that the other process is dead or gives up. An unexpected
// message, or one that cannot be read, ends the worker: the front end kills a worker that sends
// one, and a worker that receives one exits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/files/file_stamp.h"
#include "proto/files/kept_folder.h"
#include "proto/link/model_format.h"
#include "proto/link/model_spec.h"
#include "proto/link/precision.h"
#include "proto/link/sandbox_level.h"
#include "proto/link/warm_up.h"
#include "proto/link/warm_up_sample.h"
#include "proto/link/worker_runtime.h"

namespace mpsd {

inline constexpr uint32_t kLinkVersion = 1;

// The exit code of a worker whose device no longer responds to it. A new worker may be able to use
// the device.
inline constexpr int kWorkerExitDeviceLost = 5;

// Orders a worker to load a model. The spec is the config's, possibly incomplete. For a model in
// one file, a descriptor comes along: the file that had the stamp, even if another has its name by
// now. For a model in a folder, a descriptor comes along for each of `folder_files`.
struct LoadOrder {
  std::string model;
  ModelFormat format = ModelFormat::kTorchScript;
  std::string path;
  std::string opened_path{};               // path of the open descriptor; empty: `path`; never sent
  std::vector<FolderFile> folder_files{};  // KeepFolder()'s; empty: the folder is read
  std::shared_ptr<const HandedFolder> handed{};  // these files, once they are here; never sent
  FileStamp stamp;     // the file that all workers of the generation load; all zero: any file
  std::string device;  // "auto", "cpu", "cuda:0", "mps"
  Precision precision = Precision::kAsSaved;
  WarmUp warmup = WarmUp::kAuto;
  std::vector<WarmUpSample> warmup_samples{};  // empty: the lanes warm up with zeros
  int64_t keep_warm_ns = 0;  // a lane without a batch for this long makes a warm-up run; 0: never
  SandboxLevel sandbox = SandboxLevel::kBasic;
  uint32_t epoch = 0;
  uint32_t lanes = 1;
  bool lanes_compared = false;        // an earlier process found that so many lanes agree here
  uint32_t threads = 1;               // most threads per inference
  uint32_t cores = 1;                 // cores that the inferences of all lanes share
  uint32_t memory_share_percent = 0;  // this process's share of the device's memory; 0: not divided
  ModelSpec spec;
  bool inputs_by_name =
      false;  // an input with the name of no argument is a mistake; TorchScript only
  std::map<std::string, std::string> parameters;

  // The path that the worker opens. `path` is for messages to people.
  const std::string& file() const { return opened_path.empty() ? path : opened_path; }
};

// The most labels of a model, and the most bytes they have together. A report with them stays far
// below kMaxMessageBytes, even if every byte is escaped.
inline constexpr size_t kMaxLabels = 10'000;
inline constexpr size_t kMaxLabelsBytes = 256 << 10;

// Reports that the model is loaded. The spec is complete.
struct LoadReport {
  ModelSpec spec;
  std::string device;
  uint32_t lanes = 0;    // lanes that the worker will run, at most as ordered; 0: as ordered
  std::string demotion;  // why there are fewer lanes than ordered
  Precision precision = Precision::kAsSaved;  // precision in use; never kAuto
  std::string precision_note{};       // how kAuto was resolved; empty: the order named a precision
  std::vector<std::string> labels{};  // names of a row's classes; empty: it has none
  WorkerRuntime runtime{};
  uint64_t weight_bytes = 0;  // device memory of weights that other workers could share; 0: none
};

// Orders a worker to move its weights to device memory that other processes can map.
struct ShareWeights {};

// Orders a worker to replace its own weights by another worker's, sent with their descriptor.
struct UseWeights {};

// The answer to ShareWeights and UseWeights: the bytes that the worker shares from now on, after
// ShareWeights with their descriptor. 0: it has weights of its own, for the reason `why`.
struct WeightsTold {
  uint64_t bytes = 0;
  std::string why{};
};

// Hands over the shared memory. Descriptors, in this order: mailbox, worker segment, the ring end
// of the front end's bell, then one per slab segment, numbered from 0.
struct AttachOrder {
  uint64_t layout_hash = 0;
  uint64_t mailbox_bytes = 0;
  uint64_t worker_segment_bytes = 0;
  std::vector<uint64_t> slab_segment_bytes;
};

// Reports that the lanes watch their rings. They are warm, unless the warm-up ended early; the
// warning then says so.
struct Ready {
  std::string warning{};
};

// Reports that the worker cannot serve. The worker then exits. The text is for the operator.
struct Failure {
  std::string text;
  bool lasting = false;  // the next worker would fail too: the file or the order is at fault
};

// Announces a new slab segment, with its descriptor. No batch uses the segment until every worker
// has answered SlabsMapped.
struct SlabsAdded {
  uint32_t number = 0;
  uint64_t bytes = 0;
};
struct SlabsMapped {
  uint32_t number = 0;
};

// Announces that no batch uses the segment any more. Its number is reused only after every worker
// has answered SlabsUnmapped.
struct SlabsRemoved {
  uint32_t number = 0;
};
struct SlabsUnmapped {
  uint32_t number = 0;
};

using Message =
    std::variant<LoadOrder, LoadReport, ShareWeights, UseWeights, WeightsTold, AttachOrder, Ready,
                 Failure, SlabsAdded, SlabsMapped, SlabsRemoved, SlabsUnmapped>;

// For a worker, whose socket blocks: blocks until the whole message is written.
absl::Status SendMessage(int socket, const Message& message, absl::Span<const int> fds = {});

// Sends messages to a peer that may not be reading. Bytes that the socket does not take at once
// wait here, up to a bound. The supervisor has one per worker, so it never waits for one.
// Thread-compatible.
class MessageWriter {
 public:
  // Queues a message, with copies of the descriptors. RESOURCE_EXHAUSTED if more than 5 MiB would
  // wait; nothing is queued then, and the caller should give the peer up.
  absl::Status Queue(const Message& message, absl::Span<const int> fds = {});

  // Sends as much as the socket takes now. Call again when the socket is writable, until empty().
  // An error means that the peer is gone.
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
  // end of file, OUT_OF_RANGE if no whole message is there yet.
  absl::StatusOr<Received> Read(int socket);

 private:
  std::string buffer_;
  std::vector<UniqueFd> fds_;
};

}  // namespace mpsd
