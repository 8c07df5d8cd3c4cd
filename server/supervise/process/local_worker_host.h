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

// Which program runs the workers of a model.
//
//   mpsd-worker            models of all formats; links libtorch where the build has it
//   mpsd-worker-synthetic  synthetic models only; a build without libtorch has no need of it
//
// Both are made of the same sources. Linking libtorch costs a process 0.2 s of a processor and 55
// MB before it reads a model: libtorch registers its operators in the process's own heap, where
// processes cannot share them. A synthetic model uses none of that.
//
// Looks for the programs once, in the constructor. Owned by the LocalWorkerHost, which asks at each
// spawn. Immutable, so thread-safe. Without the second program the first one runs all models.
class WorkerBinaries {
 public:
  // Suffix of the second program's name.
  static constexpr char kSyntheticSuffix[] = "-synthetic";

  // `worker` is the path of mpsd-worker; the other program lies beside it.
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
// Every worker gets a folder with a number that no other worker of this daemon has. So a respawned
// worker never meets its predecessor's files.
//
// Made by the daemon, owned by its supervisor. Lives on the supervisor's thread except Open() and
// Wake(), as WorkerHost. The destructor blocks until the folders of all dead workers are removed or
// given up.
class LocalWorkerHost final : public WorkerHost {
 public:
  // `temporary_folder` belongs to this daemon alone; each worker gets a folder in it. Open() has
  // folders of a killed daemon removed. The logger outlives the host and is told of folders that
  // stay.
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

  // Used on the supervisor's thread.
  platform::Poller poller_;
  uint64_t next_folder_ = 1;  // an old folder may still be being removed, so none is used twice

  absl::Mutex mu_;
  platform::Bell wake_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
