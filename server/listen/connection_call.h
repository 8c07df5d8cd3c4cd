// ConnectionCall: what a call of gRPC tells of the connection that it came by.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "server/listen/connection_table.h"

namespace mpsd {

// A connection with an open call makes room for no other. One whose frames the guard cannot see, as
// over TLS, is cut when too many of its calls are cancelled, by the bounds that hold for frames.
// Knows nothing of calls by Unix sockets, whose clients have no names, and of those on macOS: does
// nothing for these.
//
// Part of the call, and lives on its thread. Thread-compatible.
class ConnectionCall {
 public:
  ConnectionCall() = default;
  ~ConnectionCall() { End(); }
  ConnectionCall(const ConnectionCall&) = delete;
  ConnectionCall& operator=(const ConnectionCall&) = delete;

  // The call has arrived from this client, as gRPC writes it. REQUIRES: none was begun.
  void Begin(absl::string_view peer);

  // The call was cancelled. Where its deadline has passed the client need not have done it, so that
  // it counts as one that was open for a while.
  void Cancelled(bool has_expired) const;

  // The call is over. Does nothing for one that has not begun.
  void End();

 private:
  OpenConnection connection_;
  int64_t began_ns_ = 0;
};

}  // namespace mpsd
