#include "server/instance_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace mpsd {

absl::StatusOr<InstanceLock> InstanceLock::Take(const std::string& state_dir) {
  std::error_code error;
  std::filesystem::create_directories(state_dir, error);
  const std::string path = state_dir + "/mpsd.lock";
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    char pid[32] = {};
    [[maybe_unused]] const ssize_t got = pread(fd.get(), pid, sizeof(pid) - 1, 0);
    return absl::AlreadyExistsError(
        absl::StrCat("mpsd runs already: process ", absl::StripSuffix(pid, "\n"), " holds ", path,
                     "; end it, or give this one a state_dir of its own"));
  }
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(fd.get(), 0) != 0 ||
      pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  return InstanceLock(std::move(fd));
}

}  // namespace mpsd
