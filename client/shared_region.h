// SharedRegion: memory for tensors that a client shares with a server on its host.
//
//   auto region = SharedRegion::Create(client, "frames", 2 * kBytes, deadline);
//   std::memcpy((*region)->bytes().data(), pixels, kBytes);
//   request.inputs = {{"input", DataType::kUint8, shape, {}, (*region)->Range(0, kBytes)}};
//   request.outputs = {"output"};
//   request.output_ranges["output"] = (*region)->Range(kBytes, kBytes);
//
// Worth it for large tensors; small ones go faster inside the message.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/client.h"

namespace mpsd::client {

// The destructor unregisters and removes the memory; no call may use it by then. After a lost
// connection it must be created again. The client outlives it. Create() and the destructor block
// for one call. Thread-compatible.
class SharedRegion {
 public:
  // Zeros, which no other user may open. UNIMPLEMENTED: the server accepts none; other errors are
  // the server's or the system's, and leave nothing behind.
  static absl::StatusOr<std::unique_ptr<SharedRegion>> Create(Client* client,
                                                              const std::string& name,
                                                              uint64_t bytes, absl::Time deadline);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  const std::string& name() const { return name_; }

  // Valid as long as the region. Not to be written while a call reads; outputs are complete once
  // the call is answered.
  absl::Span<char> bytes() { return {data_, bytes_}; }

  // REQUIRES: the part lies in the region.
  RegionRange Range(uint64_t offset, uint64_t bytes) const;

 private:
  SharedRegion(Client* client, std::string name) : client_(client), name_(std::move(name)) {}

  absl::Status Map(uint64_t bytes);

  Client* const client_;
  const std::string name_;
  std::string key_;  // empty: no object yet
  char* data_ = nullptr;
  uint64_t bytes_ = 0;
  bool registered_ = false;
};

}  // namespace mpsd::client
