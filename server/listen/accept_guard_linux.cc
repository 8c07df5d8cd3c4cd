#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/fd.h"
#include "server/listen/accept_guard.h"

namespace mpsd {
namespace {

// A process has one table of descriptors and one accept4(), so there is one of these: it is reached
// from inside a C library, to which nothing can be handed. Thread-safe.
class SpareDescriptor {
 public:
  bool Open() {
    absl::MutexLock lock(&mu_);
    return OpenLocked();
  }

  // Takes the next connection of `listener` with the spare descriptor and closes it. False when
  // there is none, or when another thread was quicker to use what was spared.
  bool ShedConnection(int listener) {
    absl::MutexLock lock(&mu_);
    if (!spare_.valid() && !OpenLocked()) return false;
    spare_.Reset();
    const UniqueFd connection(
        static_cast<int>(syscall(SYS_accept4, listener, nullptr, nullptr, SOCK_CLOEXEC)));
    return connection.valid();
  }

  // After the connection was closed its descriptor is free again.
  void Reopen() {
    absl::MutexLock lock(&mu_);
    if (!spare_.valid()) OpenLocked();
  }

 private:
  bool OpenLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    spare_.Reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
    return spare_.valid();
  }

  absl::Mutex mu_;
  UniqueFd spare_ ABSL_GUARDED_BY(mu_);
};

SpareDescriptor& Spare() {
  static auto* const spare = new SpareDescriptor();
  return *spare;
}

// Reached from inside a C library likewise.
std::atomic<ConnectionLimit*> connection_limit{nullptr};

bool IsOneTooMany() {
  ConnectionLimit* const limit = connection_limit.load(std::memory_order_acquire);
  return limit != nullptr && !limit->Admit();
}

}  // namespace

void LimitConnections(ConnectionLimit* limit) {
  connection_limit.store(limit, std::memory_order_release);
}

absl::Status GuardAccept() {
  if (Spare().Open()) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "cannot keep a descriptor back");
}

}  // namespace mpsd

// Stands before the C library's for everything in this process.
extern "C" int accept4(int listener, sockaddr* peer, socklen_t* peer_bytes, int flags) {
  for (;;) {
    const auto fd = static_cast<int>(syscall(SYS_accept4, listener, peer, peer_bytes, flags));
    if (fd >= 0 && mpsd::IsOneTooMany()) {
      close(fd);
      continue;
    }
    if (fd >= 0 || (errno != EMFILE && errno != ENFILE)) return fd;
    const bool shed = mpsd::Spare().ShedConnection(listener);
    mpsd::Spare().Reopen();
    if (shed) continue;
    // Nobody waits any more, or there was no descriptor after all: the next connection says when
    // to look again.
    errno = EAGAIN;
    return -1;
  }
}
