#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "proto/base/fd.h"
#include "server/listen/accept_guard.h"
#include "server/listen/connection_table.h"
#include "server/listen/socket_names.h"

namespace mpsd {
namespace {

// Connections that one accept4() closes before the thread does other work.
constexpr int kClosedAtOnce = 16;
// Used while there are no bounds, as before a server has started.
constexpr FrameBounds kDefaultFrames = {.header_block_bytes = 64 << 10};

// The system call without the guard.
int SystemAccept(int listener, sockaddr* peer, socklen_t* peer_bytes, int flags) {
  return static_cast<int>(syscall(SYS_accept4, listener, peer, peer_bytes, flags));
}
int SystemEpollControl(int epoll, int operation, int fd, epoll_event* event) {
  return static_cast<int>(syscall(SYS_epoll_ctl, epoll, operation, fd, event));
}
ssize_t SystemReceive(int fd, msghdr* message, int flags) {
  return syscall(SYS_recvmsg, fd, message, flags);
}
int SystemClose(int fd) { return static_cast<int>(syscall(SYS_close, fd)); }

// The spare descriptor. One instance, because a process has one table of descriptors. Thread-safe.
class SpareDescriptor {
 public:
  bool Open() {
    absl::MutexLock lock(&mu_);
    return OpenLocked();
  }

  // Accepts the next connection of `listener` with the spare descriptor and closes it. False if no
  // connection waits, or if another thread took the free descriptor.
  bool ShedConnection(int listener) {
    absl::MutexLock lock(&mu_);
    if (!spare_.valid() && !OpenLocked()) return false;
    spare_.Reset();
    const UniqueFd connection(SystemAccept(listener, nullptr, nullptr, SOCK_CLOEXEC));
    return connection.valid();
  }

  // Called after ShedConnection(), which has freed a descriptor.
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

ConnectionTable& Table() { return ConnectionTable::OfProcess(); }

std::atomic<const ConnectionBounds*> bounds_in_force{nullptr};

const ConnectionBounds* Bounds() { return bounds_in_force.load(std::memory_order_acquire); }

// Makes the descriptor a guarded connection. False if it can have no place.
bool Enter(int fd, const ConnectionBounds* bounds, std::shared_ptr<ConnectionShares::Use> use) {
  ConnectionTable::NewConnection connection;
  connection.names = {LocalName(fd), LocalPeerPort(fd), PeerName(fd)};
  connection.frames = bounds == nullptr ? kDefaultFrames : bounds->frames;
  connection.now_ns = Clock::Real()->NowNs();
  connection.use = std::move(use);
  return Table().AddConnection(fd, std::move(connection));
}

// Takes in a connection that was just accepted. False if it was closed instead.
bool Admit(int listener, int fd) {
  const ConnectionBounds* const bounds = Bounds();
  if (bounds == nullptr) return Enter(fd, nullptr, nullptr);
  const ConnectionShares::Newcomer newcomer{listener, HostOf(fd), !PeerName(fd).empty(),
                                            Clock::Real()->NowNs()};
  const std::shared_ptr<ConnectionShares::Use> use = Table().shares()->Enter(
      newcomer, {bounds->connections, bounds->of_listener, bounds->metrics, bounds->logger});
  if (use == nullptr || !Enter(fd, bounds, use)) {
    SystemClose(fd);
    return false;
  }
  use->SetEnd([fd, use = use.get()] {
    ConnectionPlace* const place = Table().Find(fd);
    if (place != nullptr) place->DoIfUsedAs(use, [fd] { shutdown(fd, SHUT_RDWR); });
  });
  return true;
}

// gRPC believes that the descriptor has nothing more, and waits for epoll. Has epoll report what is
// there already.
void TellAgain(int fd, const ConnectionPlace& place) {
  const std::optional<EpollEntry> entry = place.epoll();
  if (!entry.has_value()) return;
  epoll_event event{};
  event.events = entry->events;
  event.data.u64 = entry->data;
  SystemEpollControl(entry->epoll, EPOLL_CTL_MOD, fd, &event);
}

int NothingThere(int fd, const ConnectionPlace* place) {
  if (place != nullptr) TellAgain(fd, *place);
  errno = EAGAIN;
  return -1;
}

bool IsListener(int fd) {
  int listens = 0;
  socklen_t bytes = sizeof(listens);
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens != 0;
}

void NoteEpoll(int epoll, int operation, int fd, const epoll_event* event) {
  ConnectionPlace* place = Table().Find(fd);
  if (place == nullptr && operation == EPOLL_CTL_ADD && IsListener(fd)) {
    Table().AddListener(fd);
    place = Table().Find(fd);
  }
  if (place == nullptr) return;
  if (operation == EPOLL_CTL_DEL || event == nullptr) return place->SetEpoll(std::nullopt);
  place->SetEpoll(EpollEntry{epoll, event->events, event->data.u64});
}

// Receives at most `most` bytes, and then restores the message's pieces.
ssize_t ReceiveAtMost(int fd, msghdr* message, size_t most) {
  const size_t pieces = message->msg_iovlen;
  size_t count = 0;
  while (count < pieces && message->msg_iov[count].iov_len < most) {
    most -= message->msg_iov[count++].iov_len;
  }
  if (count == pieces) return SystemReceive(fd, message, 0);
  iovec& last = message->msg_iov[count];
  const size_t last_bytes = std::exchange(last.iov_len, most);
  message->msg_iovlen = count + 1;
  const ssize_t bytes = SystemReceive(fd, message, 0);
  last.iov_len = last_bytes;
  message->msg_iovlen = pieces;
  return bytes;
}

// Whether the kernel told gRPC that nothing is left.
bool TellsThatNothingIsLeft(msghdr* message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != IPPROTO_TCP || part->cmsg_type != TCP_CM_INQ) continue;
    int left = 0;
    std::memcpy(&left, CMSG_DATA(part), sizeof(left));
    return left == 0;
  }
  return false;
}

ssize_t ReadConnection(int fd, ConnectionPlace* place, msghdr* message) {
  if (place->MustPause(*Clock::Real())) {
    const ConnectionBounds* const bounds = Bounds();
    if (bounds != nullptr) bounds->metrics->read_pauses.fetch_add(1, std::memory_order_relaxed);
    return NothingThere(fd, place);
  }
  const ssize_t bytes = ReceiveAtMost(fd, message, place->most_bytes());
  if (bytes < 0 && errno == EAGAIN) {
    place->FoundNothing();
    errno = EAGAIN;
  }
  if (bytes <= 0) return bytes;
  const Flood flood =
      place->Took({message->msg_iov, message->msg_iovlen}, static_cast<size_t>(bytes),
                  TellsThatNothingIsLeft(message), *Clock::Real());
  if (flood == Flood::kNone) return bytes;
  shutdown(fd, SHUT_RDWR);
  TellOfFlood(place, flood);
  errno = ECONNRESET;
  return -1;
}

}  // namespace

void BoundConnections(const ConnectionBounds* bounds) {
  bounds_in_force.store(bounds, std::memory_order_release);
}

void GuardConnection(int connection) { Enter(connection, Bounds(), nullptr); }

void TellOfFlood(ConnectionPlace* place, Flood flood) {
  const ConnectionBounds* const bounds = Bounds();
  if (!place->Cut() || bounds == nullptr) return;
  bounds->metrics->flooding_connections.fetch_add(1, std::memory_order_relaxed);
  bounds->logger->Log(LogLevel::kWarn, "connection_cut",
                      {{"peer", place->peer()}, {"too_many", NameOf(flood)}});
}

UniqueFd AcceptConnection(int listener, bool* needs_descriptor) {
  UniqueFd fd(SystemAccept(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  *needs_descriptor = !fd.valid() && (errno == EMFILE || errno == ENFILE);
  if (fd.valid()) GuardConnection(fd.get());
  return fd;
}

absl::Status GuardAccept() {
  if (Spare().Open()) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "cannot keep a descriptor back");
}

}  // namespace mpsd

extern "C" int accept4(int listener, sockaddr* peer, socklen_t* peer_bytes, int flags) {
  for (int closed = 0; closed < mpsd::kClosedAtOnce; ++closed) {
    const int fd = mpsd::SystemAccept(listener, peer, peer_bytes, flags);
    if (fd >= 0 && mpsd::Admit(listener, fd)) return fd;
    if (fd >= 0) continue;
    if (errno != EMFILE && errno != ENFILE) return fd;
    const bool shed = mpsd::Spare().ShedConnection(listener);
    mpsd::Spare().Reopen();
    if (shed) continue;
    // No connection waits any more, or no descriptor came free: the next connection has the
    // listener look again.
    errno = EAGAIN;
    return -1;
  }
  return mpsd::NothingThere(listener, mpsd::Table().Find(listener));
}

extern "C" int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  mpsd::NoteEpoll(epoll, operation, fd, event);
  return mpsd::SystemEpollControl(epoll, operation, fd, event);
}

// gRPC reads with flags only to get the socket's errors.
extern "C" ssize_t recvmsg(int fd, msghdr* message, int flags) {
  mpsd::ConnectionPlace* const place = flags == 0 ? mpsd::Table().Find(fd) : nullptr;
  if (place == nullptr) return mpsd::SystemReceive(fd, message, flags);
  return mpsd::ReadConnection(fd, place, message);
}

extern "C" int close(int fd) {
  mpsd::Table().Remove(fd);
  return mpsd::SystemClose(fd);
}
