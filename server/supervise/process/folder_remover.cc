#include "server/supervise/process/folder_remover.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"

namespace mpsd {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// Gives the owner all rights; never through a link.
Folder OpenFolder(int parent, const char* name) {
  fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW);
  const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return nullptr;
  Folder folder(fdopendir(fd));
  if (folder == nullptr) close(fd);
  return folder;
}

bool IsFolder(int parent, const char* name) {
  struct stat status {};
  return fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

class TreeRemover {
 public:
  TreeRemover(Folder top, int max_steps) : top_(std::move(top)), steps_left_(max_steps) {}

  // A pass leaves the folders that it has moved to the top to the next pass.
  absl::Status Empty() {
    bool is_empty = false;
    while (!is_empty && status_.ok()) {
      is_empty = true;
      rewinddir(top_.get());
      ForEach(top_.get(), [this, &is_empty](const char* name) {
        is_empty = false;
        if (unlinkat(fd(), name, 0) != 0) RemoveFolder(name);
      });
    }
    return status_;
  }

 private:
  int fd() const { return dirfd(top_.get()); }

  // Calls `act` until something failed or all steps are used.
  template <typename Act>
  void ForEach(DIR* folder, const Act& act) {
    while (status_.ok()) {
      const dirent* entry = readdir(folder);
      if (entry == nullptr) return;
      const absl::string_view name(entry->d_name);
      if (name == "." || name == "..") continue;
      if (steps_left_-- <= 0) {
        status_ = absl::ResourceExhaustedError("it holds too much");
        return;
      }
      act(entry->d_name);
    }
  }

  // Removes a folder of the top after moving its own folders there.
  void RemoveFolder(const char* name) {
    if (!IsFolder(fd(), name)) return Note("cannot remove a file");
    const Folder folder = OpenFolder(fd(), name);
    if (folder == nullptr) return Note("cannot open a folder");
    const int from = dirfd(folder.get());
    ForEach(folder.get(), [this, from](const char* inner) {
      if (unlinkat(from, inner, 0) == 0) return;
      if (!IsFolder(from, inner)) return Note("cannot remove a file");
      fchmodat(from, inner, 0700, AT_SYMLINK_NOFOLLOW);
      // If the worker uses that name, the next number follows.
      const std::string moved = absl::StrCat(".moved-", next_name_++);
      if (renameat(from, inner, fd(), moved.c_str()) != 0 && errno != ENOTEMPTY &&
          errno != EEXIST && errno != ENOTDIR) {
        Note("cannot move a folder");
      }
    });
    if (unlinkat(fd(), name, AT_REMOVEDIR) == 0 || errno == ENOTEMPTY || errno == EEXIST) return;
    Note("cannot remove a folder");
  }

  // An entry that vanished meanwhile is no failure.
  void Note(const char* what) {
    if (status_.ok() && errno != ENOENT) status_ = absl::ErrnoToStatus(errno, what);
  }

  const Folder top_;
  int steps_left_;
  uint64_t next_name_ = 0;
  absl::Status status_;
};

}  // namespace

absl::Status RemoveTree(const std::string& folder, int max_steps) {
  if (unlink(folder.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  Folder top = OpenFolder(AT_FDCWD, folder.c_str());
  if (top == nullptr) return absl::ErrnoToStatus(errno, "cannot open it");
  if (absl::Status status = TreeRemover(std::move(top), max_steps).Empty(); !status.ok()) {
    return status;
  }
  if (rmdir(folder.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "cannot remove it");
}

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
