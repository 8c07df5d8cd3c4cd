// LocalWorkerHost: runs workers as child processes of the daemon.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/platform.h"
#include "server/supervise/process/folder_remover.h"
#include "server/supervise/process/worker_binaries.h"
#include "server/supervise/process/worker_host.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

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
