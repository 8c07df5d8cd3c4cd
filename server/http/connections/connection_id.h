// ConnectionId: the connection that a call came by.
#pragma once

#include <atomic>
#include <memory>

#include "absl/strings/string_view.h"
#include "server/http/connections/socket_names.h"

namespace mpsd {

// The part of a connection that others may know. Thread-safe.
class ConnectionMark {
 public:
  explicit ConnectionMark(absl::string_view peer) : is_of_this_host_(IsOfThisHost(peer)) {}

  bool is_of_this_host() const { return is_of_this_host_; }
  bool is_open() const { return is_open_.load(std::memory_order_acquire); }

  // Called by the owner alone.
  void End() { is_open_.store(false, std::memory_order_release); }

 private:
  const bool is_of_this_host_;
  std::atomic<bool> is_open_{true};
};

// Equal exactly for calls of one connection, as long as somebody holds it. An address would not do:
// all clients of a Unix socket have the same. Holding an id does not keep the connection alive.
using ConnectionId = std::shared_ptr<const ConnectionMark>;

}  // namespace mpsd
