// SharedRegion: memory for tensors that a client shares with a server on its host.
//
//   auto region = SharedRegion::Create(client, "frames", 2 * kBytes, deadline);
//   std::memcpy((*region)->bytes().data(), pixels, kBytes);
//   request.inputs = {{"input", DataType::kUint8, shape, {}, (*region)->Range(0, kBytes)}};
//   request.outputs = {"output"};
//   request.output_ranges["output"] = (*region)->Range(kBytes, kBytes);
//
// Tensors that lie in a region do not travel through the connection: the server reads inputs from
// it and writes outputs to it. Worth it for large tensors; small ones go faster inside the message.
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
  // Makes a region of that name, filled with zeros, which no other user may open. UNIMPLEMENTED
  // when the server accepts none; other errors are the server's, or the system's. After an error
  // nothing is left behind.
  static absl::StatusOr<std::unique_ptr<SharedRegion>> Create(Client* client,
                                                              const std::string& name,
                                                              uint64_t bytes, absl::Time deadline);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  const std::string& name() const { return name_; }

  // The memory that both sides see. Not to be written while a call reads it; outputs are complete
  // when the call has been answered. Valid as long as the region.
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
