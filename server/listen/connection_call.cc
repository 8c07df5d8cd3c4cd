#include "server/listen/connection_call.h"

#include <sys/socket.h>

#include "absl/strings/match.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "server/listen/accept_guard.h"
#include "server/listen/socket_names.h"

namespace mpsd {

void ConnectionCall::Begin(absl::string_view peer) {
  MPSD_CHECK(connection_.use == nullptr);
  const ConnectionTable& table = ConnectionTable::OfProcess();
  connection_ = absl::StrContains(peer, '%') ? table.Of(WithBrackets(peer)) : table.Of(peer);
  if (connection_.use == nullptr) return;
  began_ns_ = Clock::Real()->NowNs();
  connection_.use->BeginCall();
}

void ConnectionCall::Cancelled(bool has_expired) const {
  if (connection_.use == nullptr) return;
  ConnectionPlace* const place = ConnectionTable::OfProcess().Find(connection_.fd);
  if (place == nullptr) return;
  const int64_t now_ns = Clock::Real()->NowNs();
  const bool is_late = has_expired || now_ns - began_ns_ >= FrameMeter::kLongOpenNs;
  const Flood flood = place->CountReset(connection_.use.get(), is_late, now_ns);
  if (flood == Flood::kNone) return;
  const int fd = connection_.fd;
  if (place->DoIfUsedAs(connection_.use.get(), [fd] { shutdown(fd, SHUT_RDWR); })) {
    TellOfFlood(place, flood);
  }
}

void ConnectionCall::End() {
  if (connection_.use == nullptr) return;
  connection_.use->EndCall(Clock::Real()->NowNs());
  connection_ = {};
}

}  // namespace mpsd
