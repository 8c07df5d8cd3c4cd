// ConnectionId: by which connection a call came.
#pragma once

#include <memory>

namespace grpc {
class ServerContextBase;
}

namespace mpsd {

// Equal for all calls of one connection, and different for calls of different connections. While
// somebody holds an id, no later connection gets an equal one. An address cannot serve as the id:
// all clients of a Unix socket have the same.
using ConnectionId = std::shared_ptr<const void>;

// Called once the call has arrived. Thread-safe.
ConnectionId ConnectionOf(grpc::ServerContextBase* call);

}  // namespace mpsd
