#include "server/http/socket_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include "proto/base/clock.h"

namespace mpsd {
namespace {

// Interval between probes of a silent client, and their number.
constexpr int kAskEverySeconds = 5;
constexpr int kAsks = 4;

void Set(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof(value));
}

void Watch(int fd, int idle_seconds) {
  Set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  const int gone_seconds = idle_seconds + kAsks * kAskEverySeconds;
#ifdef TCP_USER_TIMEOUT
  Set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle_seconds);
  Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 1000 * gone_seconds);
#else
  Set(fd, IPPROTO_TCP, TCP_KEEPALIVE, idle_seconds);
  Set(fd, IPPROTO_TCP, TCP_RXT_CONNDROPTIME, gone_seconds);
#endif
  Set(fd, IPPROTO_TCP, TCP_KEEPINTVL, kAskEverySeconds);
  Set(fd, IPPROTO_TCP, TCP_KEEPCNT, kAsks);
}

}  // namespace

void SetSocketOptions(int fd, int family, int64_t keepalive_ns) {
  if (family == AF_UNIX) return;
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  constexpr int64_t kMostSeconds = 32767;  // limit of TCP_KEEPIDLE
  const int64_t seconds = std::min((keepalive_ns + kNsPerSecond - 1) / kNsPerSecond, kMostSeconds);
  if (seconds > 0) Watch(fd, static_cast<int>(seconds));
}

}  // namespace mpsd
