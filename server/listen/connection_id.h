// ConnectionId: the connection that a call came by.
#pragma once

#include <memory>

namespace grpc {
class ServerContextBase;
}

namespace mpsd {

// Equal exactly for calls of one connection. While somebody holds an id, no later connection gets
// an equal one. An address cannot serve as the id: all clients of a Unix socket have the same.
using ConnectionId = std::shared_ptr<const void>;

// Called once the call has arrived. Thread-safe.
ConnectionId ConnectionOf(grpc::ServerContextBase* call);

}  // namespace mpsd
