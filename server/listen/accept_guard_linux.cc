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

// The one descriptor that is kept back. A process has one table of descriptors and one accept4(),
// and accept4() is called from inside gRPC, which hands it no object of ours: so there is one
// instance. Thread-safe.
class SpareDescriptor {
 public:
  bool Open() {
    absl::MutexLock lock(&mu_);
    return OpenLocked();
  }

  // Accepts the next connection of `listener` with the spare descriptor and closes it. False when
  // no connection waits, or when another thread took the descriptor that came free.
  bool ShedConnection(int listener) {
    absl::MutexLock lock(&mu_);
    if (!spare_.valid() && !OpenLocked()) return false;
    spare_.Reset();
    const UniqueFd connection(
        static_cast<int>(syscall(SYS_accept4, listener, nullptr, nullptr, SOCK_CLOEXEC)));
    return connection.valid();
  }

  // Called after ShedConnection(), which has freed a descriptor by closing the connection.
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

// Read by accept4() likewise.
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

// Replaces the C library's accept4() in the whole process.
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
    // No connection waits any more, or no descriptor came free: the next connection has the
    // listener look again.
    errno = EAGAIN;
    return -1;
  }
}
