// SharedRegion: memory that a client shares with a server of its host, for tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/client.h"

namespace mpsd::client {

// Thread-compatible. Made and registered by Create(); unregistered, unmapped and removed when it is
// destroyed, by when no call may use it. A server knows it by the connection: when that is lost, it
// must be made anew. The client outlives it.
class SharedRegion {
 public:
  // A region of that name, all zero. UNIMPLEMENTED where the server takes none.
  static absl::StatusOr<std::unique_ptr<SharedRegion>> Create(Client* client,
                                                              const std::string& name,
                                                              uint64_t bytes, absl::Time deadline);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  const std::string& name() const { return name_; }

  // What both sides see.
  absl::Span<char> bytes() { return {data_, bytes_}; }

  // How an input or an output names a part of it. REQUIRES: the part lies in the region.
  RegionRange Range(uint64_t offset, uint64_t bytes) const;

 private:
  SharedRegion(Client* client, std::string name) : client_(client), name_(std::move(name)) {}

  absl::Status Map(uint64_t bytes);

  Client* const client_;
  const std::string name_;
  std::string key_;  // empty: there is no object yet
  char* data_ = nullptr;
  uint64_t bytes_ = 0;
  bool registered_ = false;
};

}  // namespace mpsd::client
