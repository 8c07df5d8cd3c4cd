#include "server/supervise/folder_remover.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "proto/base/platform.h"

namespace mpsd {

FolderRemover::~FolderRemover() {
  {
    absl::MutexLock lock(&mu_);
    done_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void FolderRemover::Remove(std::string folder) {
  absl::MutexLock lock(&mu_);
  folders_.push_back(std::move(folder));
  if (!started_) thread_ = std::thread([this] { Main(); });
  started_ = true;
}

void FolderRemover::Main() {
  platform::NameThread("folders");
  for (;;) {
    std::vector<std::string> folders;
    {
      const auto wanted = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
        return done_ || !folders_.empty();
      };
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(&wanted));
      folders.swap(folders_);
    }
    if (folders.empty()) return;
    std::error_code ignored;
    for (const std::string& folder : folders) std::filesystem::remove_all(folder, ignored);
  }
}

}  // namespace mpsd
