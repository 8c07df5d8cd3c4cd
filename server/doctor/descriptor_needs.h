// DescriptorNeeds: how many descriptors the front end needs, before it runs short of them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Estimates, a little high, of what lies open once all models serve.
inline constexpr uint64_t kOwnDescriptors = 24;     // logs, listeners, gRPC's and our own polling
inline constexpr uint64_t kModelDescriptors = 2;    // slab segments; its files count apart
inline constexpr uint64_t kWorkerDescriptors = 10;  // sockets, pipes, segments
inline constexpr uint64_t kFewestConnections = 8;   // with which a daemon is of use
inline constexpr uint64_t kSpareDescriptors = 32;   // for restarts, reloads and what is in between

struct DescriptorNeeds {
  uint64_t models = 0;
  uint64_t files = 0;  // files of all models, kept open for workers that start later
  uint64_t workers = 0;
  uint64_t connections = 0;  // that clients may have

  // Without any client.
  uint64_t ToServe() const {
    return kOwnDescriptors + kModelDescriptors * models + files + kWorkerDescriptors * workers;
  }
  uint64_t InAll() const { return ToServe() + kSpareDescriptors + connections; }
};

// FAILED_PRECONDITION, with the figures, when so few descriptors do not even do for the workers and
// a few clients. Pure.
absl::Status CheckDescriptors(const DescriptorNeeds& needs, uint64_t descriptors);

// How many connections a door may have that wants so many. The connections of all doors leave the
// descriptors that workers need, also for a worker that starts in place of a dead one. Pure.
uint32_t ConnectionsThatFit(uint32_t wanted, const DescriptorNeeds& needs, uint64_t descriptors);

// What the operator is told when all connections that clients may have do not fit; empty when they
// do. Pure.
std::string DescriptorWarning(const DescriptorNeeds& needs, uint64_t descriptors);

}  // namespace mpsd
