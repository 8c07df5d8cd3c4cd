#include "server/listen/connection_cutter.h"

#include <sys/socket.h>

#include <utility>

#include "absl/time/time.h"
#include "proto/base/clock.h"
#include "server/listen/open_sockets.h"

namespace mpsd {
namespace {

constexpr absl::Duration kBetweenLooks = absl::Milliseconds(100);
constexpr int64_t kFarewellNs = kNsPerSecond;

}  // namespace

void CutConnections(const std::vector<std::string>& addresses) {
  for (const int fd : ConnectionsOn(addresses)) shutdown(fd, SHUT_RDWR);
}

ConnectionCutter::ConnectionCutter(std::vector<std::string> addresses, int64_t after_ns,
                                   std::function<bool()> has_calls)
    : addresses_(std::move(addresses)),
      has_calls_(std::move(has_calls)),
      thread_([this, after_ns] { Main(after_ns); }) {}

ConnectionCutter::~ConnectionCutter() {
  done_.Notify();
  thread_.join();
}

void ConnectionCutter::Main(int64_t after_ns) const {
  const Clock* const clock = Clock::Real();
  const int64_t start_ns = clock->NowNs();
  int64_t busy_ns = start_ns;
  while (!done_.WaitForNotificationWithTimeout(kBetweenLooks)) {
    const int64_t now_ns = clock->NowNs();
    if (has_calls_()) busy_ns = now_ns;
    if (now_ns - start_ns >= after_ns || now_ns - busy_ns >= kFarewellNs) {
      CutConnections(addresses_);
    }
  }
}

}  // namespace mpsd
