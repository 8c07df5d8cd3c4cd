// messages: the control socket's messages between the front end and one worker, and their framing.
//
//   │ magic │ version │ length │ length bytes of JSON, at most kMaxMessageBytes │
//   ▲ at most kMaxMessageFds descriptors travel with this byte
//
// No part of a request ever passes here. A worker's life:
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
// End of file means that the other process is dead or gives up. A message that is unexpected or
// unreadable ends the worker: the front end kills a worker that sends one, and a worker that
// receives one exits.
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

// The device is lost to the worker; a new worker may be able to use it.
inline constexpr int kWorkerExitDeviceLost = 5;

// The spec is the config's, possibly incomplete. A model in one file comes as a descriptor of the
// file that had the stamp; a folder as a descriptor for each of `folder_files`.
struct LoadOrder {
  std::string model;
  ModelFormat format = ModelFormat::kTorchScript;
  std::string path;
  std::string opened_path{};               // path of the descriptor; empty: `path`; never sent
  std::vector<FolderFile> folder_files{};  // KeepFolder()'s; empty: the folder is read
  std::shared_ptr<const HandedFolder> handed{};  // these files; never sent
  FileStamp stamp;     // all workers of the generation load this file; all zero: any
  std::string device;  // "auto", "cpu", "cuda:0", "mps"
  Precision precision = Precision::kAsSaved;
  WarmUp warmup = WarmUp::kAuto;
  std::vector<WarmUpSample> warmup_samples{};  // empty: lanes warm up with zeros
  int64_t keep_warm_ns = 0;  // idle for this long, a lane makes a warm-up run; 0: never
  SandboxLevel sandbox = SandboxLevel::kBasic;
  uint32_t epoch = 0;
  uint32_t lanes = 1;
  bool lanes_compared = false;        // an earlier process found that these lanes agree
  uint32_t threads = 1;               // most threads per inference
  uint32_t cores = 1;                 // cores that all lanes share
  uint32_t memory_share_percent = 0;  // this process's part of the device; 0: not divided
  ModelSpec spec;
  bool inputs_by_name = false;  // a name of no argument is a mistake; TorchScript only
  std::map<std::string, std::string> parameters;

  // `path` is for messages to people.
  const std::string& file() const { return opened_path.empty() ? path : opened_path; }
};

// A report with these labels stays far below kMaxMessageBytes, even if every byte is escaped.
inline constexpr size_t kMaxLabels = 10'000;
inline constexpr size_t kMaxLabelsBytes = 256 << 10;

// The spec is complete.
struct LoadReport {
  ModelSpec spec;
  std::string device;
  uint32_t lanes = 0;                         // lanes that run, at most as ordered; 0: as ordered
  std::string demotion;                       // why there are fewer lanes
  Precision precision = Precision::kAsSaved;  // precision in use; never kAuto
  std::string precision_note{};               // how kAuto was resolved
  std::vector<std::string> labels{};          // names of a row's classes; may be empty
  WorkerRuntime runtime{};
  uint64_t weight_bytes = 0;  // device memory that could be shared; 0: none
};

// Move the weights to device memory that others can map.
struct ShareWeights {};

// Replace the weights by another worker's, whose descriptor comes along.
struct UseWeights {};

// The bytes that are shared from now on, after ShareWeights with their descriptor. 0: the weights
// are the worker's own, for the reason `why`.
struct WeightsTold {
  uint64_t bytes = 0;
  std::string why{};
};

// The descriptors, in this order: mailbox, worker segment, the ring end of the front end's bell,
// then one per slab segment, numbered from 0.
struct AttachOrder {
  uint64_t layout_hash = 0;
  uint64_t mailbox_bytes = 0;
  uint64_t worker_segment_bytes = 0;
  std::vector<uint64_t> slab_segment_bytes;
};

// The lanes watch their rings. The warning says if the warm-up ended early.
struct Ready {
  std::string warning{};
};

// The worker cannot serve, and exits. The text is for the operator.
struct Failure {
  std::string text;
  bool lasting = false;  // the next worker would fail too: the file or the order is at fault
};

// Comes with a descriptor. No batch uses the segment until every worker has answered.
struct SlabsAdded {
  uint32_t number = 0;
  uint64_t bytes = 0;
};
struct SlabsMapped {
  uint32_t number = 0;
};

// No batch uses the segment any more. Its number is reused only after every worker has answered.
struct SlabsRemoved {
  uint32_t number = 0;
};
struct SlabsUnmapped {
  uint32_t number = 0;
};

using Message =
    std::variant<LoadOrder, LoadReport, ShareWeights, UseWeights, WeightsTold, AttachOrder, Ready,
                 Failure, SlabsAdded, SlabsMapped, SlabsRemoved, SlabsUnmapped>;

// Workers use it: blocks until the whole message is written.
absl::Status SendMessage(int socket, const Message& message, absl::Span<const int> fds = {});

// Sends to a peer that may not be reading. Bytes that the socket does not take wait here, up to a
// bound. So the supervisor never waits. Thread-compatible.
class MessageWriter {
 public:
  // Copies the descriptors. RESOURCE_EXHAUSTED if more than 5 MiB would wait: nothing is queued,
  // and the caller should give the peer up.
  absl::Status Queue(const Message& message, absl::Span<const int> fds = {});

  // Call again when the socket is writable, until empty(). An error means that the peer is gone.
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

// Treats the peer as hostile: after anything but well-formed messages of this version, an error,
// the socket must not be read again. Lives on the thread that reads the socket.
class MessageReader {
 public:
  struct Received {
    Message message;
    std::vector<UniqueFd> fds;
  };

  // Reads once. UNAVAILABLE at end of file, OUT_OF_RANGE if no whole message is there yet.
  absl::StatusOr<Received> Read(int socket);

 private:
  std::string buffer_;
  std::vector<UniqueFd> fds_;
};

}  // namespace mpsd
