// SpawnedWorkerProcess: a WorkerProcess that is a child of this one.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/base/platform.h"
#include "proto/link/messages.h"
#include "server/supervise/process/folder_remover.h"
#include "server/supervise/process/worker_process.h"

namespace mpsd {

struct SpawnedWorkerOptions {
  std::string binary;
  std::string model;             // for failpoints that spare a model
  std::string temporary_folder;  // this incarnation's, removed after its end
  uint32_t threads = 1;          // BLAS and OpenMP threads for each lane
};

// Lives on the supervisor's thread, as the poller does.
class SpawnedWorkerProcess final : public WorkerProcess {
 public:
  // The folder's mode is 0700. After an error the remover gets it, and nothing else is left. Poller
  // and remover outlive the process.
  static absl::StatusOr<std::unique_ptr<SpawnedWorkerProcess>> Spawn(
      const SpawnedWorkerOptions& options, platform::Poller* poller, uint64_t first_token,
      FolderRemover* remover);
  ~SpawnedWorkerProcess() override;

  pid_t pid() const override { return pid_; }
  absl::Status Send(const Message& message, absl::Span<const int> fds) override;
  absl::Status Flush() override;
  absl::StatusOr<MessageReader::Received> Receive() override {
    return reader_.Read(control_.get());
  }
  std::string ReadOutput() override;
  bool output_ended() const override { return !output_.valid(); }
  void PauseOutput(bool paused) override;
  void Hang() override;
  bool Stopped() const override;
  void Kill() override;
  int Reap(bool wait) override;
  uint64_t ResidentBytes() const override { return platform::ResidentMemoryBytes(pid_); }

 private:
  SpawnedWorkerProcess(platform::Poller* poller, uint64_t first_token, FolderRemover* remover)
      : poller_(poller), first_token_(first_token), remover_(remover) {}

  absl::Status AddToPoller();
  uint64_t TokenOf(WorkerEvent event) const { return first_token_ + static_cast<uint64_t>(event); }

  platform::Poller* const poller_;
  const uint64_t first_token_;
  FolderRemover* const remover_;
  pid_t pid_ = -1;
  bool reaped_ = false;
  UniqueFd control_;
  UniqueFd output_;
  UniqueFd exit_;
  bool output_paused_ = false;
  MessageReader reader_;
  MessageWriter writer_;
  std::string temporary_folder_;
};

}  // namespace mpsd
