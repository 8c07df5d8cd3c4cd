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
  std::string program = "nvidia-cuda-mps-control";  // looked for in PATH when it names no folder
  std::string folder;                               // of this daemon alone; emptied at the start
  int64_t start_timeout_ns = 10 * kNsPerSecond;
};

// Lets the workers of one GPU run at the same time, at a price: a fault of one of them ends all of
// that GPU's, which then start again, and no request is blamed. Runs the service's control program
// in the foreground, in a process group and a folder of its own; changes no setting of the device
// and meets no other service; what a daemon that was killed has left in that folder is ended first.
// One that dies is started again; the workers that were its clients end
// by themselves. Thread-safe. Owned by the daemon, made before the first worker and ended after the
// last one; the logger outlives it.
class CudaService {
 public:
  // Tells workers where the service is, by this process's environment. Called before there are
  // threads.
  static void SetEnvironment(const std::string& folder);

  // Blocks until clients can connect. FAILED_PRECONDITION, with what to do, when the program is not
  // there, ends at once or does not listen in time.
  static absl::StatusOr<std::unique_ptr<CudaService>> Start(CudaServiceOptions options,
                                                            Logger* logger);

  // Ends the service and what it has started.
  ~CudaService();
  CudaService(const CudaService&) = delete;
  CudaService& operator=(const CudaService&) = delete;

  // Of the control program; -1 while there is none.
  pid_t pid() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  CudaService(CudaServiceOptions options, Logger* logger)
      : options_(std::move(options)), logger_(logger) {}

  absl::Status Spawn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status WaitUntilItListens() ABSL_LOCKS_EXCLUDED(mu_);
  // Blocks until the program has ended; its wait status.
  int Reap() ABSL_LOCKS_EXCLUDED(mu_);
  // Until the destructor says so.
  void KeepAlive() ABSL_LOCKS_EXCLUDED(mu_);
  // True when it is to be started again.
  bool Rest(uint32_t failures) ABSL_LOCKS_EXCLUDED(mu_);

  const CudaServiceOptions options_;
  Logger* const logger_;

  mutable absl::Mutex mu_;
  pid_t pid_ ABSL_GUARDED_BY(mu_) = -1;  // not reaped: it is still this process's child
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;

  std::thread thread_;  // KeepAlive()
};

}  // namespace mpsd
