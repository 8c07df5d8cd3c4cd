// ClientRegions: the shared memory that clients have registered, each connection its own.
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
#include "proto/base/byte_allowance.h"
#include "server/listen/connection_id.h"
#include "server/listen/open_sockets.h"
#include "server/regions/client_region.h"
#include "server/request/device_copier.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// What a region is memory of. Both kinds have one space of names.
enum class RegionKind { kObject, kDevice };

// Thread-safe. Owned by the daemon; outlives the server. A connection knows the regions that it
// has registered itself and no others, no object has two regions that overlap, and when a
// connection has ended, its regions go: a thread, `regions`, looks for that twice a second, which
// there is only where the daemon takes regions at all.
class ClientRegions {
 public:
  struct Options {
    uint64_t bytes = 0;          // of all regions of objects together; 0: none is taken
    uint64_t device_bytes = 0;   // likewise of devices
    uint64_t message_bytes = 0;  // what one request may have in regions
    uint64_t held_bytes = 0;     // what all requests inside may have copied of regions
  };
  using FindSockets = std::function<std::vector<OpenSocket>(absl::string_view peer)>;

  // `copier` outlives this, and all regions; null where no memory of devices is taken.
  ClientRegions(const Options& options, FindSockets find_sockets, DeviceCopier* copier,
                ServerMetrics* metrics);
  ~ClientRegions();

  bool Takes(RegionKind kind) const {
    return (kind == RegionKind::kObject ? options_.bytes : options_.device_bytes) > 0;
  }
  DeviceCopier* copier() const { return copier_; }
  uint64_t message_bytes() const { return options_.message_bytes; }

  // Takes a region of the connection, whose other end gRPC calls `peer`. A status is the client's
  // answer.
  absl::Status Register(const ConnectionId& connection, absl::string_view peer, RegionSpec spec)
      ABSL_LOCKS_EXCLUDED(mu_);

  // The same for memory of a device. The answer comes with `done`, called once, here or on the
  // copier's thread.
  void RegisterDevice(const ConnectionId& connection, absl::string_view peer, RegionSpec spec,
                      std::function<void(const absl::Status&)> done) ABSL_LOCKS_EXCLUDED(mu_);

  // Lets go of one of the connection's regions of the kind, or of all when `name` is empty. One
  // that is not there is none to let go of.
  void Unregister(const ConnectionId& connection, RegionKind kind, absl::string_view name)
      ABSL_LOCKS_EXCLUDED(mu_);

  // One of the connection's regions. NOT_FOUND in the words that clients know.
  absl::StatusOr<std::shared_ptr<const ClientRegion>> Find(const ConnectionId& connection,
                                                           absl::string_view name) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // All of the connection's regions of the kind.
  std::vector<std::shared_ptr<const ClientRegion>> List(const ConnectionId& connection,
                                                        RegionKind kind) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // Copies of regions that requests hold.
  ByteAllowance* copies() { return &copies_; }

  // Lets go of the regions whose connection has ended.
  void Sweep() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Owner {
    ConnectionId connection;
    std::vector<OpenSocket> sockets;
    std::map<std::string, std::shared_ptr<const ClientRegion>, std::less<>> regions;
  };

  static RegionKind KindOf(const ClientRegion& region) {
    return region.is_device() ? RegionKind::kDevice : RegionKind::kObject;
  }

  void Main();
  absl::StatusOr<std::vector<OpenSocket>> FindSocketsOf(absl::string_view peer) const;
  absl::Status Add(const ConnectionId& connection, std::vector<OpenSocket> sockets,
                   ClientRegion opened) ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t* TakenBytes(RegionKind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return kind == RegionKind::kObject ? &region_bytes_ : &device_bytes_;
  }
  void Forget(const ClientRegion& region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckRoom(const Owner& owner, const ClientRegion& region) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Count() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const FindSockets find_sockets_;
  DeviceCopier* const copier_;
  ServerMetrics* const metrics_;
  ByteAllowance copies_;

  mutable absl::Mutex mu_;
  absl::flat_hash_map<const void*, Owner> owners_ ABSL_GUARDED_BY(mu_);
  size_t region_count_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t region_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // of objects
  uint64_t device_bytes_ ABSL_GUARDED_BY(mu_) = 0;

  absl::Notification ending_;
  std::thread thread_;
};

}  // namespace mpsd
