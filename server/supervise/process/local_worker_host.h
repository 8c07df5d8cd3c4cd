// LocalWorkerHost: runs workers as child processes of the daemon.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/platform.h"
#include "proto/link/model_format.h"
#include "server/supervise/process/folder_remover.h"
#include "server/supervise/process/worker_host.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Knows the program for a model's format.
//
//   mpsd-worker            models of all formats; links libtorch where the build has it
//   mpsd-worker-synthetic  synthetic models only; libtorch would cost 0.2 s and 55 MB a process
//
// Looks for them once, in the constructor; without the second the first runs all. Owned by the
// LocalWorkerHost. Immutable, so thread-safe.
class WorkerBinaries {
 public:
  // Suffix of the second program's name.
  static constexpr char kSyntheticSuffix[] = "-synthetic";

  // The other program lies beside it.
  explicit WorkerBinaries(std::string worker);

  const std::string& For(ModelFormat format) const {
    return format == ModelFormat::kSynthetic ? synthetic_ : worker_;
  }

 private:
  const std::string worker_;
  const std::string synthetic_;  // `worker_` if there is no other
};

//   supervisor ── Spawn ─▶ fork, exec ─▶ worker process ── ends ─▶ its folder to the FolderRemover
//        ▲                                    │
//        ╰── Wait ◀── poller ◀── control socket, output pipe, exit
//                        ╰◀───── bell ◀── Wake, from any thread
//
// No two workers of this daemon get the same folder, so none meets its predecessor's files.
//
// Owned by the supervisor. Lives on the supervisor's thread except Open() and Wake(). The
// destructor blocks until the folders of dead workers are removed or given up.
class LocalWorkerHost final : public WorkerHost {
 public:
  // `temporary_folder` is this daemon's alone; Open() has a killed daemon's folders removed. The
  // logger outlives the host and is told of folders that stay.
  LocalWorkerHost(std::string worker_binary, std::string temporary_folder, Logger* logger);

  absl::Status Open() override;
  absl::StatusOr<std::unique_ptr<WorkerProcess>> Spawn(const WorkerProcessOptions& options,
                                                       uint64_t first_token) override;
  std::vector<uint64_t> Wait(int64_t timeout_ns) override;
  void Wake() override ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t OutOfMemoryKills() const override { return platform::OutOfMemoryKills(); }
  uint64_t AvailableMemoryBytes() const override { return platform::AvailableMemoryBytes(); }

 private:
  absl::Status RemoveLeftovers();

  const WorkerBinaries binaries_;
  const std::string temporary_folder_;
  FolderRemover remover_;

  platform::Poller poller_;
  uint64_t next_folder_ = 1;  // never used twice: an old folder may still be there

  absl::Mutex mu_;
  platform::Bell wake_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
