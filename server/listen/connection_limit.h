// ConnectionLimit: that a server has no more connections than it may.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Thread-safe. Nobody tells it that a connection has ended: it counts those that were accepted, and
// looks how many there really are only when these would be too many.
class ConnectionLimit {
 public:
  // Of a server that listens on `addresses`, given as they were bound.
  ConnectionLimit(std::vector<std::string> addresses, uint32_t limit, ServerMetrics* metrics)
      : addresses_(std::move(addresses)), limit_(limit), metrics_(metrics) {}

  // To be called when a connection was accepted. False, and counted, when it is one too many.
  bool Admit();

  // How many there are.
  uint32_t Count() const;

 private:
  const std::vector<std::string> addresses_;
  const uint32_t limit_;
  ServerMetrics* const metrics_;
  std::atomic<uint32_t> at_most_{0};
};

}  // namespace mpsd
