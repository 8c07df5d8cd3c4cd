// A gRPC call's deadline on our clock.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>

namespace mpsd {

// The client's deadline, in the time of Clock::NowNs(): the default where it has none, never beyond
// the cap. Thread-safe once the call has arrived.
int64_t MonotonicDeadlineNs(const grpc::ServerContext& context, int64_t now_ns);

}  // namespace mpsd
