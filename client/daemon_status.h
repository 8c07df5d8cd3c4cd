// DaemonStatus: the state of a daemon, its models and their workers, as Client::GetDaemonStatus()
// returns it.
//
// The same as the answer of proto/control.proto, without generated code: `mpsd ps` shows it, and a
// program may watch it. A snapshot, in which single numbers may be of slightly different moments.
// Times are milliseconds since the Unix epoch, or durations. Texts are for people; programs may
// compare `exit_reason`, `circuit` and `generation`. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mpsd::client {

// One worker of a pool: its present incarnation, and how the previous one ended.
struct WorkerStatus {
  uint32_t index = 0;
  int64_t pid = 0;     // 0 while no process runs
  uint64_t epoch = 0;  // the number of the incarnation
  std::string state;
  uint32_t lanes = 0;
  std::string device;
  std::string runtime;       // library that runs the model: "torch 2.11.0"; empty: not loaded yet
  std::string runtime_kind;  // kind of libtorch: "stock", "patched", …
  std::string runtime_path;  // path of libtorch's library
  std::string driver_guard;  // "none", "held", "missing": whether the gpu's driver is guarded
  std::string input_memory;  // "none", "in_place", "copied": whether an mps gpu reads the slabs
  double slowness = 1;       // how many times as long as the others its batches take; 1: not slow
  uint64_t resident_bytes = 0;
  uint64_t restarts = 0;
  int64_t uptime_ms = 0;
  std::string last_exit;                // how the previous incarnation ended; empty: there was none
  std::string exit_reason;              // "exit", "signal", "killed", "oom", "hang", … one word
  std::vector<std::string> last_lines;  // written by this and previous incarnations
  int64_t starts_in_ms = -1;            // -1: it is not waiting to start
  std::string generation;               // "loading" or "draining" while the model is replaced
};

// The content of requests that a model refuses for a while, since one of them crashed its worker.
struct RefusedContent {
  uint64_t fingerprint = 0;  // equal for equal contents until the daemon ends
  int64_t age_ms = 0;
};

// One model version, with its workers.
struct ModelStatus {
  std::string name;
  std::string version;
  bool ready = false;    // it answers inferences
  std::string state;     // "ready", "loading", "unavailable: …"
  std::string platform;  // the format: "torchscript", "aoti", "synthetic"
  std::string device;
  std::string device_note;      // the gpu that "auto" passed over, and why; empty: none
  std::string precision;        // "as_saved", "bf16", …; empty: it was not loaded yet
  std::string precision_note;   // how "auto" came to it; empty: it was told
  std::string spec;             // the tensors: "x:FP32[-1,16] -> y:FP32[-1,4]"
  int64_t queued_requests = 0;  // that no lane has yet
  int64_t running_batches = 0;
  uint32_t max_batch_size = 0;  // 0: it does not batch
  uint32_t lanes = 0;           // lanes of all workers
  std::vector<WorkerStatus> workers;
  std::map<std::string, std::string> parameters;  // from the config
  std::string circuit;                            // "closed", "open", "probing"
  std::vector<RefusedContent> refused_contents;   // the oldest first
  std::string warning;                            // why it serves less well than it could
  uint64_t quarantined_requests = 0;              // that were refused for their content, so far
};

// The outcome of the last reload of the config.
struct ReloadStatus {
  bool ok = true;
  int64_t time_ms = 0;  // since the Unix epoch; 0: there was no reload
  std::string text;     // the work done, or why there was none
};

// The whole answer: the daemon at the moment of the call.
struct DaemonStatus {
  std::string server_name;
  std::string server_version;
  int64_t start_time_ms = 0;  // since the Unix epoch
  bool ready = false;
  std::vector<ModelStatus> models;
  ReloadStatus last_reload;
};

}  // namespace mpsd::client
