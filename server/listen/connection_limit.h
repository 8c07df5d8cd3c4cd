// ConnectionLimit: keeps the number of a server's connections below a bound.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Asked by the accept guard for each new connection. It does not learn when a connection ends. It
// counts the accepted ones, and counts the open ones, by a walk over the process's descriptors,
// only when the first count reaches the limit. Owned by the server; outlives its listeners.
// Thread-safe.
class ConnectionLimit {
 public:
  // For a server that listens on `addresses`, which are written as they were bound. `metrics`
  // outlives the limit.
  ConnectionLimit(std::vector<std::string> addresses, uint32_t limit, ServerMetrics* metrics)
      : addresses_(std::move(addresses)), limit_(limit), metrics_(metrics) {}

  // Called when a connection was accepted. False when it is one too many, which is counted in the
  // metrics; the caller then closes it.
  bool Admit();

  // How many connections are open. Walks over all descriptors.
  uint32_t Count() const;

 private:
  const std::vector<std::string> addresses_;
  const uint32_t limit_;
  ServerMetrics* const metrics_;
  std::atomic<uint32_t> at_most_{0};  // never below the number of open connections
};

}  // namespace mpsd
