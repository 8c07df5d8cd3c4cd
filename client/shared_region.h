// SharedRegion: memory for tensors that a client shares with a server on its host.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/client.h"

namespace mpsd::client {

// Create() makes and registers the memory; the destructor unregisters, unmaps and removes it. No
// call may use it by then. The server knows the region by the client's connection: after a lost
// connection it must be created again. The client outlives it.
//
// Thread-compatible. Blocks in Create() and the destructor, for one call to the server.
class SharedRegion {
 public:
  // A region of that name, filled with zeros. UNIMPLEMENTED when the server accepts none.
  static absl::StatusOr<std::unique_ptr<SharedRegion>> Create(Client* client,
                                                              const std::string& name,
                                                              uint64_t bytes, absl::Time deadline);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  const std::string& name() const { return name_; }

  // The memory that both sides see. Not to be written while a call reads it.
  absl::Span<char> bytes() { return {data_, bytes_}; }

  // Names a part of the region in an input or output. REQUIRES: the part lies in the region.
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
