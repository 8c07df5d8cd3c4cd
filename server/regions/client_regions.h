// ClientRegions: the regions that clients registered, by connection.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "server/http/connections/connection_id.h"
#include "server/regions/client_region.h"
#include "server/request/byte_allowance.h"
#include "server/request/device_copier.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Names are unique over both kinds.
enum class RegionKind { kObject, kDevice };

// control/ fills the table; requests find their regions in it (steps 2 and 13).
//
//   connection A   "in"  → 1 MiB of /dev/shm/a      each connection has names of its own:
//                  "out" → 1 MiB of /dev/shm/b      both may have an "in"
//
//   connection B   "in"  → memory of CUDA device 0
//
// A thread, `regions`, looks twice a second for connections that have ended; it exists only if the
// config allows regions.
//
// Registering opens files without the lock, and looks at every region. There are at most
// kMaxRegionsOfConnection per connection and kMaxRegions in all. Owned by the daemon; outlives the
// server. Thread-safe.
//
// Invariants:
//  1. A connection finds only regions that it registered itself.
//  2. No two regions of one object overlap.
//  3. The regions of each kind together have no more bytes than Options allow.
//  4. When a connection has ended, its regions leave the table at the next sweep.
class ClientRegions {
 public:
  struct Options {
    uint64_t bytes = 0;          // all regions of objects; 0: all are refused
    uint64_t device_bytes = 0;   // all regions of devices; 0: all are refused
    uint64_t message_bytes = 0;  // one request's inputs in regions
    uint64_t held_bytes = 0;     // all copies that requests hold
  };
  // `copier` outlives the table and its regions. REQUIRES: not null if Options allow device memory.
  ClientRegions(const Options& options, DeviceCopier* copier, ServerMetrics* metrics);
  ~ClientRegions();

  bool Takes(RegionKind kind) const {
    return (kind == RegionKind::kObject ? options_.bytes : options_.device_bytes) > 0;
  }
  DeviceCopier* copier() const { return copier_; }
  uint64_t message_bytes() const { return options_.message_bytes; }

  // FAILED_PRECONDITION unless the client is on this host, ALREADY_EXISTS for a registered name or
  // memory, RESOURCE_EXHAUSTED beyond a limit.
  absl::Status Register(const ConnectionId& connection, RegionSpec spec) ABSL_LOCKS_EXCLUDED(mu_);

  // For device memory. Calls `done` exactly once, before the return or later on the copier's
  // thread.
  void RegisterDevice(const ConnectionId& connection, RegionSpec spec,
                      std::function<void(const absl::Status&)> done) ABSL_LOCKS_EXCLUDED(mu_);

  // Removes the region, if there is one; all of the kind if `name` is empty.
  void Unregister(const ConnectionId& connection, RegionKind kind, absl::string_view name)
      ABSL_LOCKS_EXCLUDED(mu_);

  // NOT_FOUND in words that clients match on.
  absl::StatusOr<std::shared_ptr<const ClientRegion>> Find(const ConnectionId& connection,
                                                           absl::string_view name) const
      ABSL_LOCKS_EXCLUDED(mu_);

  std::vector<std::shared_ptr<const ClientRegion>> List(const ConnectionId& connection,
                                                        RegionKind kind) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // For all copies of regions that requests hold.
  ByteAllowance* copies() { return &copies_; }

  // Also called by tests.
  void Sweep() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Owner {
    ConnectionId connection;  // held, so that no later connection gets an equal one
    std::map<std::string, std::shared_ptr<const ClientRegion>, std::less<>> regions;
  };

  static RegionKind KindOf(const ClientRegion& region) {
    return region.is_device() ? RegionKind::kDevice : RegionKind::kObject;
  }

  void Main();
  absl::Status Add(const ConnectionId& connection, ClientRegion opened) ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t* TakenBytes(RegionKind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return kind == RegionKind::kObject ? &region_bytes_ : &device_bytes_;
  }
  void Forget(const ClientRegion& region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckRoom(const Owner& owner, const ClientRegion& region) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Count() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  DeviceCopier* const copier_;
  ServerMetrics* const metrics_;
  ByteAllowance copies_;

  mutable absl::Mutex mu_;
  absl::flat_hash_map<const void*, Owner> owners_ ABSL_GUARDED_BY(mu_);
  size_t region_count_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t region_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // objects'
  uint64_t device_bytes_ ABSL_GUARDED_BY(mu_) = 0;

  absl::Notification ending_;
  std::thread thread_;
};

}  // namespace mpsd
