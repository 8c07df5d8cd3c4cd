// Config: what an operator wants of the daemon, complete with defaults.
//
//   config file ──────── ReadConfig ────────────┐
//   model files ──────── ConfigFromModelFiles ──┼─▶ Config ─▶ daemon: options of each part
//   model repository ─── ConfigFromRepository ──┘         └─▶ reloader: a generation of each model
//
// A repository's models are not part of it: ModelRepository reads them at each reload. Everything
// here is a value. config/README.md has the keys, units and bounds. All paths are absolute.
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
#include "server/request/cache_scope.h"
#include "server/request/graph/model_step.h"
#include "server/request/lane_needs.h"
#include "server/request/queue_policy.h"
#include "server/request/sequence_policy.h"
#include "server/request/supervision_limits.h"
#include "server/request/text_policy.h"

namespace mpsd {

// With kExplicit a repository's models are loaded only when a client asks. The config's models
// always are.
enum class ModelControlMode { kNone, kExplicit };

// 0 is "auto": DecidePlacements() finds a number for the host. It keeps a number that an operator
// wrote, but a worker runs fewer lanes if its model cannot bear so many.
struct PlacementConfig {
  uint32_t processes = 0;
  uint32_t lanes = 0;    // in each process
  uint32_t threads = 0;  // for one inference

  bool operator==(const PlacementConfig&) const = default;
};

struct BatchingConfig {
  int64_t max_delay_ns = 0;               // how long a free lane may wait for more requests
  std::vector<uint32_t> preferred_sizes;  // in rows; rising

  bool operator==(const BatchingConfig&) const = default;
};

// Upper bounds for an operator.
inline constexpr uint32_t kMaxThreads = 256;
inline constexpr uint32_t kMaxDeviceIndex = 255;
inline constexpr size_t kMaxPreferredSizes = 64;
inline constexpr int64_t kMaxQueueTimeoutNs = 24LL * 3600 * 1'000'000'000;

// Each version is a model of its own. A value.
struct ModelKey {
  std::string name;
  std::string version;

  auto operator<=>(const ModelKey&) const = default;
};

// A value. Equal configs make equal generations: a reload leaves such a model alone.
struct ModelConfig {
  std::string name;
  std::string version = "1";
  std::string path;  // empty for a synthetic model or a model of steps
  std::string hub;   // "ORG/NAME@REVISION"; `path` is empty until the model is here
  FileStamp stamp;   // identifies the file at `path`
  bool from_repository = false;
  ModelFormat format = ModelFormat::kTorchScript;
  std::string device = "auto";  // or "cpu", "cuda", "cuda:1", "cuda:0,2", "cuda:all", "mps"
  Precision precision = Precision::kAsSaved;
  PlacementConfig placement;
  ModelSpec spec;               // as far as the config says
  bool inputs_by_name = false;  // see LoadOrder
  WarmUp warmup = WarmUp::kAuto;
  std::vector<WarmUpSample> warmup_samples;  // from a repository's config.pbtxt
  int64_t keep_warm_ns = 0;                  // how often an idle lane runs a batch; 0: never
  std::optional<SandboxLevel> sandbox;       // nothing: the daemon's level
  BatchingConfig batching;
  uint32_t max_request_rows = 0;
  uint32_t max_batch_tokens = 0;  // tokens of one batch; 0: any number
  SupervisionLimits supervision;
  QueuePolicies queue;
  uint64_t queue_bytes = kDefaultQueueBytes;  // holds the largest message
  LaneNeeds lane_needs;
  int64_t queue_target_ns = 0;         // longest wait in a standing queue; 0: any
  int64_t slo_ns = 0;                  // promised time of 99 of 100 requests; 0: any
  TextPolicy text;                     // set for a folder with a tokenizer
  std::vector<ModelTask> default_for;  // tasks of requests that name no model
  FileStamp tokenizer_stamp;           // by StampOfTokenizer()
  // always off for a decoupled model
  CacheScope response_cache = CacheScope::kOff;
  std::optional<SequencePolicy> sequences;        // set for a model with state
  std::map<std::string, std::string> parameters;  // for the worker; clients may read them
  // A config.pbtxt's facts that only clients look at, by tensor.
  std::map<std::string, std::string> input_formats;
  std::map<std::string, std::string> label_files;          // in the model's folder
  std::map<std::string, std::vector<std::string>> labels;  // the lines of those files

  // The model runs these models instead of a file. Beside them only `spec`, `queue`, `queue_bytes`
  // and `parameters` matter.
  std::vector<ModelStep> steps;

  bool has_steps() const { return !steps.empty(); }
  bool awaits_hub() const { return !hub.empty() && path.empty(); }
  ModelKey key() const { return {name, version}; }
  bool operator==(const ModelConfig&) const = default;
};

// Clients that may read the services' descriptors.
enum class Reflection { kLocal, kOff, kOn };

// TLS on addresses of its own. The files existed when the config was read; CertificateSource reads
// them.
struct TlsConfig {
  std::vector<std::string> grpc;
  std::vector<std::string> http;
  std::string certificate;  // empty: no TLS
  std::string key;
  std::string client_ca;  // empty: clients show no certificate
  bool client_must_show_certificate = true;
};

// Changes only with a restart.
struct ListenConfig {
  std::vector<std::string> grpc;
  TlsConfig tls;
  std::string control;     // "unix:PATH"; empty: none
  bool plaintext = false;  // other hosts may reach addresses without TLS
  std::vector<std::string> http = {"127.0.0.1:8000", "127.0.0.1:8002"};  // empty: none
  std::vector<std::string> cors;   // origins whose pages may call over HTTP; "*": all
  std::vector<std::string> hosts;  // further names for HTTP on loopback
  Reflection reflection = Reflection::kLocal;
};

// Where servers of the protocol differ: the form of errors, the names of metrics.
enum class Compat { kNone, kTriton };

struct LogConfig {
  std::string level = "info";
  std::string file;      // empty: stderr
  std::string requests;  // empty: no line for each request
};

struct TraceConfig {
  std::string file;       // empty: none
  std::string collector;  // its address; empty: none
  bool otlp = false;
  uint32_t rate = 1000;             // one request in this many has spans
  int64_t metrics_interval_ns = 0;  // 0: no figures for the collector
};

// A value. main owns the one of the start; the reloader makes another at each reload.
// Daemon::Apply() and PlanReload() say which changes need no restart.
struct Config {
  ListenConfig listen;
  std::string server_name = "mpsd";
  std::string server_version = MPSD_VERSION;
  std::string state_dir;  // has the lock and the workers' temporary folders
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
  bool strict_readiness = true;  // ready only while all models are ready
  bool keep_going = true;        // false: a model that can never serve ends the start
  std::string model_repository;  // empty: none
  ResourceLimits resources;
  DeviceLimits device_share;        // for models with a weight
  std::vector<ModelConfig> models;  // at most kMaxModels, no two with one key()
};

// `file` names the config in errors; relative paths start from its folder. Looks at the files that
// the config names. INVALID_ARGUMENT has a line for each of the first 20 mistakes:
//    demo.json:12: models[0].batching.max_dleay: unknown key; did you mean 'max_delay'?
absl::StatusOr<Config> ParseConfig(std::string_view text, const std::string& file);

// At most 1 MiB. NOT_FOUND or PERMISSION_DENIED if the file cannot be read; INVALID_ARGUMENT if it
// is too large or has a mistake. Thread-safe, but may wait for the file system.
absl::StatusOr<Config> ReadConfig(const std::string& file);

// Where a model at a hub lies on this host, and its tokenizer.
void SetHubFolder(const std::string& folder, ModelConfig* model);

// The folder "mpsd" in `runtime` ($XDG_RUNTIME_DIR) if that is a path, else in `lasting`
// (platform::LastingFolder()), else /tmp/mpsd-<user>. Systems delete old files in /tmp; without the
// lock a second daemon could start beside the first. Pure.
std::string StateDirOf(const char* runtime, const std::string& lasting, uint32_t user);

// StateDirOf() for this process.
std::string DefaultStateDir();

// Loopback, and a socket in `state_dir`.
std::vector<std::string> DefaultGrpcAddresses(const std::string& state_dir);

}  // namespace mpsd
