// DescriptorNeeds: how many descriptors the front end needs.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// High estimates of the open descriptors once all models serve.
inline constexpr uint64_t kOwnDescriptors = 24;     // logs, listeners, polling of gRPC and mpsd
inline constexpr uint64_t kModelDescriptors = 2;    // slab segments; its files count apart
inline constexpr uint64_t kWorkerDescriptors = 10;  // sockets, pipes, segments
inline constexpr uint64_t kFewestConnections = 8;   // fewest connections of a useful daemon
inline constexpr uint64_t kSpareDescriptors = 32;   // for restarts, reloads and transitions

struct DescriptorNeeds {
  uint64_t models = 0;
  uint64_t files = 0;  // files of all models, kept open for workers that start later
  uint64_t workers = 0;
  uint64_t connections = 0;  // limit for clients

  // Without any client.
  uint64_t ToServe() const {
    return kOwnDescriptors + kModelDescriptors * models + files + kWorkerDescriptors * workers;
  }
  uint64_t InAll() const { return ToServe() + kSpareDescriptors + connections; }
};

// FAILED_PRECONDITION, with the figures, if the descriptors do not even suffice for the workers and
// a few clients. Pure.
absl::Status CheckDescriptors(const DescriptorNeeds& needs, uint64_t descriptors);

// How many of the wanted connections a door may have. The connections of all doors leave enough
// descriptors for workers, also for one that replaces a dead one. Pure.
uint32_t ConnectionsThatFit(uint32_t wanted, const DescriptorNeeds& needs, uint64_t descriptors);

// A warning if not all connections that clients may have fit; else empty. Pure.
std::string DescriptorWarning(const DescriptorNeeds& needs, uint64_t descriptors);

}  // namespace mpsd
