// Config: what the daemon was told to do, parsed, checked and complete with defaults.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/file_stamp.h"
#include "proto/base/limits.h"
#include "proto/link/model_format.h"
#include "proto/link/model_spec.h"
#include "proto/link/sandbox_level.h"
#include "proto/link/warm_up.h"
#include "server/access/access_rules.h"
#include "server/config/limits_config.h"

namespace mpsd {

enum class ModelControlMode { kNone, kExplicit };

// How many; 0 stands for "auto".
struct PlacementConfig {
  uint32_t processes = 0;
  uint32_t lanes = 0;
  uint32_t threads = 0;

  bool operator==(const PlacementConfig&) const = default;
};

struct BatchingConfig {
  int64_t max_delay_ns = 0;  // how long a lane may idle for company; 0: it never waits

  bool operator==(const BatchingConfig&) const = default;
};

// What workers may take before they are ended, and when they rest or are replaced.
struct SupervisionConfig {
  int64_t load_timeout_ns = 300LL * 1'000'000'000;
  int64_t warmup_timeout_ns = 600LL * 1'000'000'000;
  int64_t run_timeout_ns = 0;   // 0: by what batches have taken
  uint32_t circuit_deaths = 5;  // 0: the model never rests
  int64_t circuit_period_ns = 60LL * 1'000'000'000;
  uint64_t recycle_resident_bytes = 0;  // 0: never for its memory
  uint64_t recycle_requests = 0;        // 0: never for what it has answered
  int64_t recycle_age_ns = 0;           // 0: never for its age

  bool operator==(const SupervisionConfig&) const = default;
};

// What tells one model from another.
struct ModelKey {
  std::string name;
  std::string version;

  auto operator<=>(const ModelKey&) const = default;
};

// Equal configs make equal generations: a reload leaves such a model alone.
struct ModelConfig {
  std::string name;
  std::string version = "1";  // a plain decimal
  std::string path;           // absolute; empty for synthetic models
  FileStamp stamp;            // of the file at `path`
  bool from_repository = false;
  ModelFormat format = ModelFormat::kTorchScript;
  std::string device = "auto";
  PlacementConfig placement;
  ModelSpec spec;  // as far as the config says it; empty lists are left to the model
  WarmUp warmup = WarmUp::kAuto;
  std::optional<SandboxLevel> sandbox;  // nothing: the daemon's
  BatchingConfig batching;
  SupervisionConfig supervision;
  uint32_t queue_requests = kDefaultQueueRequests;
  uint64_t queue_bytes = kDefaultQueueBytes;
  std::map<std::string, std::string> parameters;

  ModelKey key() const { return {name, version}; }
  bool operator==(const ModelConfig&) const = default;
};

// Who may ask for our descriptors.
enum class Reflection { kLocal, kOff, kOn };

struct TlsConfig {
  std::vector<std::string> grpc;  // addresses that are served with TLS
  std::string certificate;        // absolute, as those that follow
  std::string key;
  std::string client_ca;  // empty: clients are asked for no certificate
  bool client_must_show_certificate = true;
};

struct ListenConfig {
  std::vector<std::string> grpc;  // DefaultGrpcAddresses(), when the config says none
  TlsConfig tls;
  std::string control;                  // "unix:PATH" for control calls; empty: none
  bool plaintext = false;               // addresses without TLS may be reached from other hosts
  std::string http = "127.0.0.1:8002";  // empty: none
  Reflection reflection = Reflection::kLocal;
};

// Where other servers of the protocol differ from ours, whom clients are to meet.
enum class Compat { kNone, kTriton };

struct LogConfig {
  std::string level = "info";
  std::string file;      // empty: stderr
  std::string requests;  // absolute: where each request has a line; empty: nowhere
};

// Where spans go, and of which requests.
struct TraceConfig {
  std::string file;  // absolute; empty: nothing is traced
  bool otlp = false;
  uint32_t rate = 1000;  // one in so many
};

struct Config {
  ListenConfig listen;
  std::string server_name = "mpsd";
  std::string server_version = MPSD_VERSION;
  std::string state_dir;  // absolute: the lock, the workers' temporary folders
  LimitsConfig limits;
  LogConfig log;
  AccessRules access;
  TraceConfig trace;
  SandboxLevel sandbox = SandboxLevel::kBasic;
  bool cuda_mps = false;  // the daemon runs CUDA's Multi-Process Service for its workers
  Compat compat = Compat::kNone;
  // Whether clients may load and unload models.
  ModelControlMode model_control = ModelControlMode::kNone;
  std::string model_repository;  // absolute; empty: none
  std::vector<ModelConfig> models;
};

// Parses `text`; `file` is what errors are reported against and what relative paths start from.
// INVALID_ARGUMENT holds every mistake on a line of its own, 20 of them at most:
// "demo.json:12: models[0].batching.max_dleay: unknown key; did you mean 'max_delay'?".
absl::StatusOr<Config> ParseConfig(std::string_view text, const std::string& file);
absl::StatusOr<Config> ReadConfig(const std::string& file);

// Where the daemon keeps its state when the config does not say: $XDG_RUNTIME_DIR/mpsd, else
// /tmp/mpsd-<uid>.
std::string DefaultStateDir();

// Where gRPC is served when the config does not say: loopback, and a socket in `state_dir`.
std::vector<std::string> DefaultGrpcAddresses(const std::string& state_dir);

}  // namespace mpsd
