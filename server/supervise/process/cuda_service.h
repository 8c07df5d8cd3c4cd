// CudaService: CUDA's Multi-Process Service, as a child of the daemon.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

struct CudaServiceOptions {
  std::string program = "nvidia-cuda-mps-control";  // searched in PATH unless it has a slash
  std::string folder;                               // the daemon's alone; Start() empties it
  int64_t start_timeout_ns = 10 * kNsPerSecond;
};

// With this service, the workers of one GPU run at the same time. The price: a fault of one ends
// all there; they start again, and no request is blamed.
//
// Runs the control program in its own process group and folder, and starts it again if it dies.
// Never changes a setting of the device, never touches another service, but ends one that a killed
// daemon left in this folder.
//
// Owned by the daemon, made before the first worker, destroyed after the last; the logger outlives
// it. Thread-safe.
class CudaService {
 public:
  // Tells workers by this process's environment where the service is. REQUIRES: this process has no
  // other thread yet.
  static void SetEnvironment(const std::string& folder);

  // Blocks until clients can connect. FAILED_PRECONDITION, with advice, if the program is missing,
  // ends at once or does not listen in time.
  static absl::StatusOr<std::unique_ptr<CudaService>> Start(CudaServiceOptions options,
                                                            Logger* logger);

  // Blocks until all its processes are gone.
  ~CudaService();
  CudaService(const CudaService&) = delete;
  CudaService& operator=(const CudaService&) = delete;

  // The control program's; -1: none.
  pid_t pid() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  CudaService(CudaServiceOptions options, Logger* logger)
      : options_(std::move(options)), logger_(logger) {}

  absl::Status Spawn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status WaitUntilItListens() ABSL_LOCKS_EXCLUDED(mu_);
  // Blocks; returns the wait status.
  int Reap() ABSL_LOCKS_EXCLUDED(mu_);
  // The thread: restarts the service until the destructor ends it.
  void KeepAlive() ABSL_LOCKS_EXCLUDED(mu_);
  // False if the destructor ended the wait.
  bool Rest(uint32_t failures) ABSL_LOCKS_EXCLUDED(mu_);

  const CudaServiceOptions options_;
  Logger* const logger_;

  mutable absl::Mutex mu_;
  pid_t pid_ ABSL_GUARDED_BY(mu_) = -1;  // not reaped
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;

  std::thread thread_;
};

}  // namespace mpsd
