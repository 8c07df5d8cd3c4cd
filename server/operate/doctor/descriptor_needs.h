// DescriptorNeeds: how many descriptors the front end needs.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// High estimates of open descriptors once all models serve.
inline constexpr uint64_t kOwnDescriptors = 24;     // logs, listeners, polling
inline constexpr uint64_t kModelDescriptors = 2;    // slab segments; its files count apart
inline constexpr uint64_t kWorkerDescriptors = 10;  // sockets, pipes, segments
inline constexpr uint64_t kFewestConnections = 8;   // for a useful daemon
inline constexpr uint64_t kSpareDescriptors = 32;   // for restarts, reloads and transitions

struct DescriptorNeeds {
  uint64_t models = 0;
  uint64_t files = 0;  // kept open for workers that start later
  uint64_t workers = 0;
  uint64_t connections = 0;

  // Without any client.
  uint64_t ToServe() const {
    return kOwnDescriptors + kModelDescriptors * models + files + kWorkerDescriptors * workers;
  }
  uint64_t InAll() const { return ToServe() + kSpareDescriptors + connections; }
};

// FAILED_PRECONDITION, with the figures, if workers and a few clients do not fit. Pure.
absl::Status CheckDescriptors(const DescriptorNeeds& needs, uint64_t descriptors);

// How many of the `wanted` connections a door may have. All doors leave enough for workers, also
// for replacements. Pure.
uint32_t ConnectionsThatFit(uint32_t wanted, const DescriptorNeeds& needs, uint64_t descriptors);

// Empty if all connections fit. Pure.
std::string DescriptorWarning(const DescriptorNeeds& needs, uint64_t descriptors);

}  // namespace mpsd
