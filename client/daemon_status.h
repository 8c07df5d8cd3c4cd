// DaemonStatus: the state of a daemon, its models and their workers.
//
// A snapshot, whose numbers may be of slightly different moments. Times are milliseconds since the
// Unix epoch, or durations. Texts are for people; programs may compare `exit_reason`, `circuit` and
// `generation`. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mpsd::client {

struct WorkerStatus {
  uint32_t index = 0;
  int64_t pid = 0;     // 0: no process runs
  uint64_t epoch = 0;  // number of the incarnation
  std::string state;
  uint32_t lanes = 0;
  std::string device;
  std::string runtime;       // "torch 2.11.0"; empty: not loaded yet
  std::string runtime_kind;  // "stock", "patched", …
  std::string runtime_path;  // libtorch's library
  std::string driver_guard;  // "none", "held", "missing"
  std::string input_memory;  // "none", "in_place", "copied"
  double slowness = 1;       // its batches take this many times as long as others'
  uint64_t resident_bytes = 0;
  uint64_t restarts = 0;
  int64_t uptime_ms = 0;
  std::string last_exit;                // how the previous incarnation ended; empty: none
  std::string exit_reason;              // one word: "exit", "signal", "killed", "oom", "hang", …
  std::vector<std::string> last_lines;  // written by this and previous incarnations
  int64_t starts_in_ms = -1;            // -1: does not wait to start
  std::string generation;               // "loading" or "draining" while the model is replaced
};

// A model refuses it for a while, since it crashed a worker.
struct RefusedContent {
  uint64_t fingerprint = 0;  // equal for equal contents until the daemon ends
  int64_t age_ms = 0;
};

struct ModelStatus {
  std::string name;
  std::string version;
  bool ready = false;    // it answers inferences
  std::string state;     // "ready", "loading", "unavailable: …"
  std::string platform;  // the format: "torchscript", "aoti", "synthetic"
  std::string device;
  std::string device_note;      // why "auto" passed over a gpu; empty: it did not
  std::string precision;        // "as_saved", "bf16", …; empty: not loaded yet
  std::string precision_note;   // how "auto" came to it
  std::string spec;             // "x:FP32[-1,16] -> y:FP32[-1,4]"
  int64_t queued_requests = 0;  // no lane has them yet
  int64_t running_batches = 0;
  uint32_t max_batch_size = 0;  // 0: does not batch
  uint32_t lanes = 0;           // lanes of all workers
  std::vector<WorkerStatus> workers;
  std::map<std::string, std::string> parameters;  // from the config
  std::string circuit;                            // "closed", "open", "probing"
  std::vector<RefusedContent> refused_contents;   // oldest first
  std::string warning;                            // why it serves less well than it could
  uint64_t quarantined_requests = 0;              // refused for their content so far
};

struct ReloadStatus {
  bool ok = true;
  int64_t time_ms = 0;  // 0: there was none
  std::string text;     // the work done, or why there was none
};

struct DaemonStatus {
  std::string server_name;
  std::string server_version;
  int64_t start_time_ms = 0;
  bool ready = false;
  std::vector<ModelStatus> models;
  ReloadStatus last_reload;
};

}  // namespace mpsd::client
