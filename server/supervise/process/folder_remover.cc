#include "server/supervise/process/folder_remover.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "proto/base/platform.h"

namespace mpsd {

FolderRemover::~FolderRemover() {
  {
    absl::MutexLock lock(&mu_);
    done_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

bool FolderRemover::RemoveTree(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  return !error;
}

void FolderRemover::Remove(std::string folder) {
  absl::MutexLock lock(&mu_);
  tasks_.push_back({std::move(folder)});
  if (!started_) thread_ = std::thread([this] { Main(); });
  started_ = true;
}

void FolderRemover::Main() {
  platform::NameThread("folders");
  std::vector<Task> left;  // from former tries
  for (;;) {
    {
      const auto wanted = [this, &left]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
        return done_ || !tasks_.empty() || !left.empty();
      };
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(&wanted));
      left.insert(left.end(), tasks_.begin(), tasks_.end());
      tasks_.clear();
    }
    if (left.empty()) return;
    std::vector<Task> again;
    for (Task& task : left) {
      if (!remove_all_(task.folder) && ++task.tries < kTries) again.push_back(std::move(task));
    }
    left = std::move(again);
    if (!left.empty()) absl::SleepFor(try_every_);
  }
}

}  // namespace mpsd
