// ConnectionCall: reports a gRPC call to the connection that it came by.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "server/listen/connection_table.h"

namespace mpsd {

// A connection with an open call makes room for no other. If the guard cannot see a connection's
// frames, as over TLS, it is cut when too many of its calls are cancelled, by the bounds for
// frames. Does nothing for calls by Unix sockets, whose clients have no names, nor on macOS.
//
// Part of the call, and lives on its thread. Thread-compatible.
class ConnectionCall {
 public:
  ConnectionCall() = default;
  ~ConnectionCall() { End(); }
  ConnectionCall(const ConnectionCall&) = delete;
  ConnectionCall& operator=(const ConnectionCall&) = delete;

  // The call has arrived from this client, in gRPC's form. REQUIRES: none was begun.
  void Begin(absl::string_view peer);

  // The call was cancelled. If its deadline has passed, perhaps not by the client: it then counts
  // as a call that was open for a while.
  void Cancelled(bool has_expired) const;

  // The call is over. Does nothing if none has begun.
  void End();

 private:
  OpenConnection connection_;
  int64_t began_ns_ = 0;
};

}  // namespace mpsd
