#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/confine/call_filter.h"
#include "proto/confine/own_rights.h"

namespace mpsd {
namespace {

absl::Status Errno(absl::string_view what) { return absl::ErrnoToStatus(errno, what); }

// A superuser keeps only the right to read files of other users.
absl::Status DropCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (syscall(SYS_capget, &header, sets) != 0) return Errno("cannot read the capabilities");
  constexpr uint32_t kKept = 1U << CAP_DAC_READ_SEARCH;
  // A service manager that removed all capabilities may have forbidden the call.
  if ((sets[0].permitted & ~kKept) == 0 && sets[1].permitted == 0) return absl::OkStatus();
  sets[0] = {sets[0].effective & kKept, sets[0].permitted & kKept, 0};
  sets[1] = {};
  if (syscall(SYS_capset, &header, sets) != 0) return Errno("cannot drop the capabilities");
  return absl::OkStatus();
}

}  // namespace

absl::Status DropPrivileges() {
  absl::Status status;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) status.Update(Errno("cannot renounce setuid"));
  status.Update(DropCapabilities());
  return status;
}

absl::Status SealCalls(const DeniedCalls& denied) {
  std::vector<sock_filter> instructions = CallFilter(denied, getpid());
  if (instructions.empty()) {
    return absl::UnimplementedError("there is no call filter for this processor");
  }
  const sock_fprog program{static_cast<uint16_t>(instructions.size()), instructions.data()};
  const long result =
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  if (result == 0) return absl::OkStatus();
  if (result > 0) return absl::InternalError("a thread has a call filter of its own");
  return Errno("this kernel has no seccomp filters, calls are not sealed");
}

}  // namespace mpsd
