#include "server/supervise/process/folder_remover.h"

#include <utility>

#include "absl/time/clock.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"

namespace mpsd {

FolderRemover::~FolderRemover() {
  {
    absl::MutexLock lock(&mu_);
    done_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void FolderRemover::Start() {
  MPSD_CHECK(!thread_.joinable());
  thread_ = std::thread([this] { Main(); });
}

void FolderRemover::Remove(std::string folder) {
  MPSD_CHECK(thread_.joinable());
  absl::MutexLock lock(&mu_);
  tasks_.push_back({std::move(folder)});
}

bool FolderRemover::IsDoneWith(Task* task) {
  const absl::Status status = remove_all_(task->folder);
  if (status.ok()) return true;
  if (++task->tries < kTries) return false;
  given_up_(task->folder, status);
  return true;
}

void FolderRemover::Main() {
  platform::NameThread("folders");
  std::vector<Task> left;  // from earlier tries
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
      if (!IsDoneWith(&task)) again.push_back(std::move(task));
    }
    left = std::move(again);
    if (!left.empty()) absl::SleepFor(try_every_);
  }
}

}  // namespace mpsd
