// Config: what the daemon shall do: parsed, checked, complete with defaults.
//
// A Config says what an operator wants, never what is: the addresses that were bound stand in the
// gRPC server, the lanes that a model got in its Placement. It is made in one of three ways, and is
// complete after each of them:
//
//   config file ──────── ReadConfig ────────────┐
//   model files ──────── ConfigFromModelFiles ──┼─▶ Config ─▶ daemon: options of each part
//   model repository ─── ConfigFromRepository ──┘         └─▶ reloader: a generation of each model
//
// The models of a repository are not in it: the reloader has ModelRepository read them at each
// reload. Everything here is a value without threads or files of its own; the keys, their units and
// their bounds are in config/README.md. All paths are absolute.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/limits.h"
#include "proto/files/file_stamp.h"
#include "proto/link/model_format.h"
#include "proto/link/model_spec.h"
#include "proto/link/precision.h"
#include "proto/link/sandbox_level.h"
#include "proto/link/warm_up.h"
#include "proto/link/warm_up_sample.h"
#include "server/access/access_rules.h"
#include "server/config/limits_config.h"
#include "server/graph/model_step.h"
#include "server/request/cache_scope.h"
#include "server/request/lane_needs.h"
#include "server/request/queue_policy.h"
#include "server/request/sequence_policy.h"
#include "server/request/text_policy.h"

namespace mpsd {

// Whether clients may load and unload models. With kExplicit the models of a repository are loaded
// only when a client asks; those of the config are loaded in either mode.
enum class ModelControlMode { kNone, kExplicit };

// How many processes, lanes and threads a model gets; 0 is "auto", for which DecidePlacements()
// finds a number that suits the host. It never changes a number that an operator writes, but a
// worker whose model cannot bear so many lanes runs fewer.
struct PlacementConfig {
  uint32_t processes = 0;  // workers of the model
  uint32_t lanes = 0;      // of each process
  uint32_t threads = 0;    // that compute one inference

  bool operator==(const PlacementConfig&) const = default;
};

// How batches are made.
struct BatchingConfig {
  int64_t max_delay_ns = 0;               // how long a free lane may wait for more requests
  std::vector<uint32_t> preferred_sizes;  // of a batch, in rows; rising

  bool operator==(const BatchingConfig&) const = default;
};

// The most that placement.threads, the number of a device and the timeout of a queue's level may
// be.
inline constexpr uint32_t kMaxThreads = 256;
inline constexpr uint32_t kMaxDeviceIndex = 255;
inline constexpr size_t kMaxPreferredSizes = 64;
inline constexpr int64_t kMaxQueueTimeoutNs = 24LL * 3600 * 1'000'000'000;

// How long the phases of a worker may take, and when workers rest or are replaced. Obeyed by
// WorkerGroup and SupervisedWorker (server/supervise), which get them as SupervisionLimits.
struct SupervisionConfig {
  int64_t load_timeout_ns = 300LL * 1'000'000'000;    // from the spawn to the LoadReport
  int64_t warmup_timeout_ns = 600LL * 1'000'000'000;  // from the AttachOrder to its service
  int64_t run_timeout_ns = 0;                         // 0: follows the time of earlier batches
  uint32_t circuit_deaths = 5;  // the model rests after so many in a period; 0: never
  int64_t circuit_period_ns = 60LL * 1'000'000'000;
  uint64_t recycle_resident_bytes = 0;  // 0: never replaced for its memory
  uint64_t recycle_requests = 0;        // 0: never replaced for its answers
  int64_t recycle_age_ns = 0;           // 0: never replaced for its age

  bool operator==(const SupervisionConfig&) const = default;
};

// What distinguishes one model from another: each version is a model of its own. A value.
struct ModelKey {
  std::string name;
  std::string version;

  auto operator<=>(const ModelKey&) const = default;
};

// One model. A value. Equal configs make equal generations: a reload does not touch a model whose
// config is equal.
struct ModelConfig {
  std::string name;
  std::string version = "1";  // a plain decimal number
  std::string path;           // absolute; empty for a synthetic model, and one of steps
  FileStamp stamp;            // of the file at `path`
  bool from_repository = false;
  ModelFormat format = ModelFormat::kTorchScript;
  std::string device = "auto";  // or "cpu", "cuda", "cuda:1", "cuda:0,2", "cuda:all", "mps"
  Precision precision = Precision::kAsSaved;
  PlacementConfig placement;
  ModelSpec spec;               // what the config says; the file says the rest
  bool inputs_by_name = false;  // see LoadOrder
  WarmUp warmup = WarmUp::kAuto;
  std::vector<WarmUpSample> warmup_samples;  // of a repository's config.pbtxt
  int64_t keep_warm_ns = 0;                  // a lane without a batch runs once in so long; 0: no
  std::optional<SandboxLevel> sandbox;       // nothing: as the daemon
  BatchingConfig batching;
  uint32_t max_request_rows = 0;  // beyond a batch a request runs in parts; 0: as a batch
  uint32_t max_batch_tokens = 0;  // that requests share (TokenBudget, server/batch); 0: any
  SupervisionConfig supervision;
  QueuePolicies queue;
  uint64_t queue_bytes = kDefaultQueueBytes;      // of what waits; holds the largest message
  LaneNeeds lane_needs;                           // what its lanes share with other models'
  int64_t queue_target_ns = 0;                    // the longest wait in a standing queue; 0: any
  TextPolicy text;                                // of a folder with a tokenizer that one
  std::vector<ModelTask> default_for;             // it answers requests of them that name no model
  FileStamp tokenizer_stamp;                      // StampOfTokenizer() of `text.tokenizer`
  CacheScope response_cache = CacheScope::kOff;   // whose answers are kept; not if decoupled
  std::optional<SequencePolicy> sequences;        // of a model with state
  std::map<std::string, std::string> parameters;  // for the worker, and clients may read them
  // What a config.pbtxt says of tensors that only clients look at, by name.
  std::map<std::string, std::string> input_formats;        // "FORMAT_NCHW"
  std::map<std::string, std::string> label_files;          // of outputs, in the model's folder
  std::map<std::string, std::vector<std::string>> labels;  // the lines of those files

  // The models that it runs instead of a file. Where there are some, `spec`, `queue`, `queue_bytes`
  // and `parameters` are all else that says something.
  std::vector<ModelStep> steps;

  bool has_steps() const { return !steps.empty(); }
  ModelKey key() const { return {name, version}; }
  bool operator==(const ModelConfig&) const = default;
};

// Who may read the descriptors of the services.
enum class Reflection { kLocal, kOff, kOn };

// gRPC and HTTP with TLS. Their addresses are others than those without TLS. The files were there
// when the config was read; CertificateSource reads their contents.
struct TlsConfig {
  std::vector<std::string> grpc;
  std::vector<std::string> http;
  std::string certificate;  // empty: no TLS
  std::string key;
  std::string client_ca;  // empty: clients show no certificate
  bool client_must_show_certificate = true;
};

// Where the daemon is reached. Changes with a restart only: the sockets are bound once.
struct ListenConfig {
  std::vector<std::string> grpc;  // by default DefaultGrpcAddresses()
  TlsConfig tls;
  std::string control;     // "unix:PATH" for control calls; empty: none
  bool plaintext = false;  // other hosts may reach addresses without TLS
  std::vector<std::string> http = {"127.0.0.1:8000", "127.0.0.1:8002"};  // empty: none
  std::vector<std::string> cors;   // sites whose pages may call over HTTP; "*": all
  std::vector<std::string> hosts;  // further names by which clients of loopback use HTTP
  Reflection reflection = Reflection::kLocal;
};

// Whose behaviour clients see where servers of the protocol differ: the form of errors, and the
// names of metrics.
enum class Compat { kNone, kTriton };

// The log and the request log.
struct LogConfig {
  std::string level = "info";
  std::string file;      // empty: stderr
  std::string requests;  // absolute; empty: no line for each request
};

// The traces: their file, and which requests have spans.
struct TraceConfig {
  std::string file;  // absolute; empty: no traces
  bool otlp = false;
  uint32_t rate = 1000;  // one request in this many
};

// A value. main makes the one that the daemon starts with, and owns it. The reloader makes another
// one at each reload; what of it takes effect without a restart is Daemon::Apply()'s to say for the
// daemon, and PlanReload()'s for the models.
struct Config {
  ListenConfig listen;
  std::string server_name = "mpsd";
  std::string server_version = MPSD_VERSION;
  std::string state_dir;  // absolute; has the lock and the workers' temporary folders
  LimitsConfig limits;
  LogConfig log;
  AccessRules access;
  TraceConfig trace;
  SandboxLevel sandbox = SandboxLevel::kBasic;
  bool cuda_mps = false;        // the daemon runs CUDA's Multi-Process Service
  bool mps_fallback = false;    // on mps, operators without a kernel run on the cpu
  bool memory_pressure = true;  // a Mac's lack of memory trims workers, and replaces them
  bool keep_awake = true;       // a Mac does not fall asleep while requests are inside
  Compat compat = Compat::kNone;
  ModelControlMode model_control = ModelControlMode::kNone;
  bool strict_readiness = true;     // ready only while all models are
  bool keep_going = true;           // false: a model that can never serve ends the start
  std::string model_repository;     // absolute; empty: none
  ResourceLimits resources;         // how much there is of those that models need
  DeviceLimits device_share;        // of models with a weight
  std::vector<ModelConfig> models;  // at most kMaxModels, no two with one key()
};

// Parses the text of a config. `file` is the name in errors; relative paths start from its folder.
// Looks at the files that the config names. INVALID_ARGUMENT has each mistake on a line of its own,
// at most 20: "demo.json:12: models[0].batching.max_dleay: unknown key; did you mean 'max_delay'?".
absl::StatusOr<Config> ParseConfig(std::string_view text, const std::string& file);

// Reads and parses the config at `file`, which has at most 1 MiB. NOT_FOUND or PERMISSION_DENIED if
// it cannot be read, INVALID_ARGUMENT if it is too large or has a mistake. Main prints the message
// and exits with 78; a reload logs it and leaves everything as it is. Thread-safe, but may wait for
// the file system.
absl::StatusOr<Config> ReadConfig(const std::string& file);

// The folder "mpsd" in `runtime`, the value of $XDG_RUNTIME_DIR, if that is a path; else in
// `lasting`, which is platform::LastingFolder(); else /tmp/mpsd-<user>. Systems tidy /tmp up after
// some days: a daemon's lock in it would go, and a second daemon could start beside it. Pure.
std::string StateDirOf(const char* runtime, const std::string& lasting, uint32_t user);

// The default of state_dir: StateDirOf() this process. Reads the environment.
std::string DefaultStateDir();

// The default of listen.grpc: loopback, and a socket in `state_dir`.
std::vector<std::string> DefaultGrpcAddresses(const std::string& state_dir);

}  // namespace mpsd
