#include "server/supervise/process/folder_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace mpsd {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// Gives the owner all rights to its folder; never through a link.
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

  // Empties the top. A pass leaves behind the folders that it has moved there; the next pass takes
  // them.
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

  // Calls `act` for each entry, until something failed or all steps are used.
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

  // Removes a folder of the top after moving its own folders to the top.
  void RemoveFolder(const char* name) {
    if (!IsFolder(fd(), name)) return Note("cannot remove a file");
    const Folder folder = OpenFolder(fd(), name);
    if (folder == nullptr) return Note("cannot open a folder");
    const int from = dirfd(folder.get());
    ForEach(folder.get(), [this, from](const char* inner) {
      if (unlinkat(from, inner, 0) == 0) return;
      if (!IsFolder(from, inner)) return Note("cannot remove a file");
      fchmodat(from, inner, 0700, AT_SYMLINK_NOFOLLOW);
      // If the worker uses that name already, the next number follows.
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

}  // namespace mpsd
