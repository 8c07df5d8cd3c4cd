#include "server/listen/connection_cutter.h"

#include <sys/socket.h>

#include <utility>

#include "absl/time/time.h"
#include "server/listen/open_sockets.h"

namespace mpsd {
namespace {

constexpr absl::Duration kBetweenCuts = absl::Milliseconds(100);

}  // namespace

void CutConnections(const std::vector<std::string>& addresses) {
  for (const int fd : ConnectionsOn(addresses)) shutdown(fd, SHUT_RDWR);
}

ConnectionCutter::ConnectionCutter(std::vector<std::string> addresses, int64_t after_ns)
    : thread_([this, addresses = std::move(addresses), after_ns] { Main(addresses, after_ns); }) {}

ConnectionCutter::~ConnectionCutter() {
  done_.Notify();
  thread_.join();
}

void ConnectionCutter::Main(const std::vector<std::string>& addresses, int64_t after_ns) {
  absl::Duration wait = absl::Nanoseconds(after_ns);
  while (!done_.WaitForNotificationWithTimeout(wait)) {
    CutConnections(addresses);
    wait = kBetweenCuts;
  }
}

}  // namespace mpsd
