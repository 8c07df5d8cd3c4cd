// ConnectionId: by which connection a call came.
#pragma once

#include <memory>

namespace grpc {
class ServerContextBase;
}

namespace mpsd {

// Equal for the calls of one connection and for no others; no other connection gets an equal one
// as long as somebody holds it. Addresses do not do: all clients of a Unix socket have one.
using ConnectionId = std::shared_ptr<const void>;

// Thread-safe once the call has arrived.
ConnectionId ConnectionOf(grpc::ServerContextBase* call);

}  // namespace mpsd
