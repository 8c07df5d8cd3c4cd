// AccessMetrics: the counters of access and certificates.
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd {

// Thread-safe. Counters only grow. RefusalLog counts calls, CertificateSource counts certificates
// and sets the gauge. Owned by the daemon.
struct AccessMetrics {
  std::atomic<uint64_t> unauthenticated_calls{0};
  std::atomic<uint64_t> denied_calls{0};
  std::atomic<uint64_t> certificates_taken{0};
  std::atomic<uint64_t> certificates_refused{0};
  std::atomic<int64_t> certificate_not_after_s{0};  // since the Unix epoch; 0: no TLS
};

}  // namespace mpsd
