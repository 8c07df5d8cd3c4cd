#include "server/listen/connection_limit.h"

#include "server/listen/open_sockets.h"

namespace mpsd {

bool ConnectionLimit::Admit() {
  if (at_most_.fetch_add(1, std::memory_order_relaxed) < limit_) return true;
  const uint32_t count = Count();  // the new one is among them
  const bool admitted = count <= limit_;
  at_most_.store(admitted ? count : limit_, std::memory_order_relaxed);
  if (!admitted) metrics_->refused_connections.fetch_add(1, std::memory_order_relaxed);
  return admitted;
}

uint32_t ConnectionLimit::Count() const {
  return static_cast<uint32_t>(ConnectionsOn(addresses_).size());
}

}  // namespace mpsd
