#include "server/supervise/process/local_worker_host.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/files/private_folder.h"
#include "server/supervise/process/spawned_worker_process.h"

namespace mpsd {
namespace {

std::string SyntheticBeside(const std::string& worker) {
  std::string synthetic = worker + WorkerBinaries::kSyntheticSuffix;
  return access(synthetic.c_str(), X_OK) == 0 ? synthetic : worker;
}

constexpr uint64_t kWakeToken = 0;

}  // namespace

WorkerBinaries::WorkerBinaries(std::string worker)
    : worker_(std::move(worker)), synthetic_(SyntheticBeside(worker_)) {}

LocalWorkerHost::LocalWorkerHost(std::string worker_binary, std::string temporary_folder,
                                 Logger* logger)
    : binaries_(std::move(worker_binary)),
      temporary_folder_(std::move(temporary_folder)),
      remover_([logger](const std::string& folder, const absl::Status& why) {
        logger->Log(LogLevel::kWarn, "folder_left",
                    {{"folder", folder}, {"reason", std::string(why.message())}});
      }) {}

absl::Status LocalWorkerHost::Open() {
  absl::StatusOr<platform::Bell> bell = platform::CreateBell();
  if (!bell.ok()) return bell.status();
  absl::StatusOr<platform::Poller> poller = platform::Poller::Create();
  if (!poller.ok()) return poller.status();
  poller_ = *std::move(poller);
  absl::Status status = poller_.AddReadable(bell->poll_fd.get(), kWakeToken);
  if (!status.ok()) return status;
  remover_.Start();
  status = RemoveLeftovers();
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  wake_ = *std::move(bell);
  return absl::OkStatus();
}

// The former daemon's workers may still run. Their folders get another name until nobody writes to
// them.
absl::Status LocalWorkerHost::RemoveLeftovers() {
  const std::string left = temporary_folder_ + ".left";
  RemoveTree(left).IgnoreError();
  std::error_code error;
  std::filesystem::rename(temporary_folder_, left, error);
  if (!error) remover_.Remove(left);
  return MakePrivateFolder(temporary_folder_);
}

absl::StatusOr<std::unique_ptr<WorkerProcess>> LocalWorkerHost::Spawn(
    const WorkerProcessOptions& options, uint64_t first_token) {
  MPSD_CHECK(first_token > kWakeToken);
  SpawnedWorkerOptions spawned;
  spawned.binary = binaries_.For(options.format);
  spawned.model = options.model;
  spawned.temporary_folder =
      absl::StrCat(temporary_folder_, "/", options.model, "-", options.worker, ".", next_folder_++);
  spawned.threads = options.threads;
  return SpawnedWorkerProcess::Spawn(spawned, &poller_, first_token, &remover_);
}

std::vector<uint64_t> LocalWorkerHost::Wait(int64_t timeout_ns) {
  // A copy: the poller reuses its list, and handling one token may remove another's descriptor.
  std::vector<uint64_t> tokens = poller_.Wait(timeout_ns);
  if (std::erase(tokens, kWakeToken) > 0) {
    absl::MutexLock lock(&mu_);
    platform::ClearBell(wake_.poll_fd.get());
  }
  return tokens;
}

void LocalWorkerHost::Wake() {
  absl::MutexLock lock(&mu_);
  if (wake_.ring_fd.valid()) platform::RingBell(wake_.ring_fd.get());
}

}  // namespace mpsd
