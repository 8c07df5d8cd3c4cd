#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/fd.h"
#include "proto/confine/own_rights.h"
#include "worker/sandbox/allowed_files.h"
#include "worker/sandbox/confinement.h"

namespace mpsd {
namespace {

// Landlock's flags. An older distribution's header has only the first few.
constexpr uint64_t kWriteFile = 1 << 1;
constexpr uint64_t kReadFile = 1 << 2;
constexpr uint64_t kReadFolder = 1 << 3;
constexpr uint64_t kRemoveFolder = 1 << 4;
constexpr uint64_t kRemoveFile = 1 << 5;
constexpr uint64_t kMakeFolder = 1 << 7;
constexpr uint64_t kMakeFile = 1 << 8;
constexpr uint64_t kMakeFifo = 1 << 10;
constexpr uint64_t kMakeLink = 1 << 12;
constexpr uint64_t kMove = 1 << 13;       // version 2
constexpr uint64_t kTruncate = 1 << 14;   // version 3
constexpr uint64_t kAskDevice = 1 << 15;  // version 5
constexpr uint64_t kFirstRights = (1 << 13) - 1;
constexpr uint64_t kRightsOfFiles = 1 | kWriteFile | kReadFile | kTruncate | kAskDevice;
constexpr uint64_t kTcpBindAndConnect = 3;          // version 4
constexpr uint64_t kAbstractSocketsAndSignals = 3;  // version 6
constexpr int kRulePathBeneath = 1;
constexpr int kAskVersion = 1;
constexpr int kVersionWithTruncate = 3;

struct RulesetAttributes {
  uint64_t files;
  uint64_t network;  // version 4
  uint64_t scoped;   // version 6
};

struct [[gnu::packed]] PathAttributes {
  uint64_t allowed;
  int32_t parent_fd;
};

absl::Status Errno(absl::string_view what) { return absl::ErrnoToStatus(errno, what); }

uint64_t HandledRights(int version) {
  uint64_t rights = kFirstRights;
  if (version >= 2) rights |= kMove;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kAskDevice;
  return rights;
}

uint64_t RightsOf(FileUse use) {
  constexpr uint64_t kRead = kReadFile | kReadFolder;
  switch (use) {
    case FileUse::kRead:
      return kRead;
    case FileUse::kDevice:
      return kRead | kWriteFile | kTruncate | kAskDevice;
    case FileUse::kScratch:
      return kRead | kWriteFile | kTruncate | kRemoveFolder | kRemoveFile | kMakeFolder |
             kMakeFile | kMakeFifo | kMakeLink | kMove;
  }
  return 0;
}

// A missing path needs no rule.
absl::Status Allow(int ruleset, const AllowedPath& path, uint64_t handled) {
  const UniqueFd fd(open(path.path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info {};
  if (!fd.valid() || fstat(fd.get(), &info) != 0) return absl::OkStatus();
  uint64_t rights = RightsOf(path.use) & handled;
  if (!S_ISDIR(info.st_mode)) rights &= kRightsOfFiles;
  const PathAttributes attributes{rights, fd.get()};
  if (syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &attributes, 0) == 0) {
    return absl::OkStatus();
  }
  return Errno(absl::StrCat("cannot allow ", path.path));
}

absl::Status RestrictFiles(const std::vector<AllowedPath>& allowed) {
  const int version =
      static_cast<int>(syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion));
  if (version < 1) return Errno("this kernel has no landlock, files are not confined");
  RulesetAttributes attributes{HandledRights(version), 0, 0};
  size_t bytes = sizeof(attributes.files);
  if (version >= 4) {
    attributes.network = kTcpBindAndConnect;
    bytes += sizeof(attributes.network);
  }
  if (version >= 6) {
    attributes.scoped = kAbstractSocketsAndSignals;
    bytes += sizeof(attributes.scoped);
  }
  const UniqueFd ruleset(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, bytes, 0)));
  if (!ruleset.valid()) return Errno("cannot make a landlock ruleset");
  for (const AllowedPath& path : allowed) {
    absl::Status status = Allow(ruleset.get(), path, attributes.files);
    if (!status.ok()) return status;
  }
  if (syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return Errno("cannot enter a landlock domain");
  }
  if (version >= kVersionWithTruncate) return absl::OkStatus();
  return absl::UnimplementedError("this kernel's landlock does not deny truncating files by path");
}

// Landlock's rule for an entry of /proc holds only while the kernel keeps the entry in memory. An
// open descriptor ensures that.
void HoldOwnProcess(const std::vector<AllowedPath>& allowed) {
  for (const AllowedPath& path : allowed) {
    if (!absl::StartsWith(path.path, absl::StrCat("/proc/", getpid()))) continue;
    [[maybe_unused]] const int fd = open(path.path.c_str(), O_PATH | O_CLOEXEC);
  }
}

absl::Status CheckSingleThread() {
  std::error_code error;
  size_t threads = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task", error)) {
    ++threads;
  }
  if (threads == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      threads, " threads run already, the libraries' own; their files are not confined"));
}

// Forbids core files; hides the memory from the user's other processes.
absl::Status HideMemory() {
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return Errno("cannot forbid core files");
  if (prctl(PR_SET_DUMPABLE, 0) != 0) return Errno("cannot hide the memory");
  return absl::OkStatus();
}

}  // namespace

absl::Status ConfineFiles(const SandboxOptions& options) {
  absl::Status status = CheckSingleThread();
  const std::vector<AllowedPath> allowed = AllowedFiles(options);
  HoldOwnProcess(allowed);
  status.Update(DropPrivileges());
  status.Update(RestrictFiles(allowed));
  if (options.level == SandboxLevel::kStrict) status.Update(HideMemory());
  return status;
}

}  // namespace mpsd
