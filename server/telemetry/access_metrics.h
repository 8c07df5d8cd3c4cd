// AccessMetrics: what is counted of who gets in.
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd {

// Thread-safe. Counters only grow; the gauge is set by whoever holds the certificate.
struct AccessMetrics {
  std::atomic<uint64_t> unauthenticated_calls{0};
  std::atomic<uint64_t> denied_calls{0};
  std::atomic<uint64_t> certificates_taken{0};
  std::atomic<uint64_t> certificates_refused{0};
  std::atomic<int64_t> certificate_not_after_s{0};  // since the epoch; 0: no TLS
};

}  // namespace mpsd
