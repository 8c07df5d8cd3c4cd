// HubClient: the hub's answers over HTTP, by libcurl.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/hub/hub_listing.h"
#include "client/hub/hub_settings.h"
#include "client/hub/piece_pool.h"
#include "proto/files/hub_name.h"

namespace mpsd::hub {

// Follows at most 5 redirects, from https to https alone; the token goes to the hub's own host
// only. After a failure of the network, 5xx or 429, tries again: as `Retry-After` says, or after a
// second and more, at most five times without a byte. Proxies and authorities are libcurl's.
//
// Errors are for a person, and name the model:
//   UNAUTHENTICATED                   the hub wants a token
//   PERMISSION_DENIED                 the model is gated
//   NOT_FOUND                         there is no such model, revision or file
//   RESOURCE_EXHAUSTED, UNAVAILABLE   the last try has failed
//   INTERNAL                          an answer is wrong in itself
//
// Owned by one pull. Thread-compatible.
class HubClient {
 public:
  // `say` gets a line before a wait of more than a second. Borrows `pool`.
  HubClient(HubSettings settings, PiecePool* pool, std::function<void(const std::string&)> say);
  ~HubClient();

  // A hub that cannot be connected is not tried again: a host without a network shall not wait.
  absl::StatusOr<HubListing> List(const HubName& name);

  // Fetches `file` from the byte `from` on. The pieces go to `take` in order, whose error ends the
  // transfer. The function `arrived` hears how many bytes have come, also ahead of the next piece.
  // With `in_parts` a large file comes over several connections. OUT_OF_RANGE: the hub sends only
  // whole files. The caller then begins again without parts. REQUIRES: `in_parts`, or `from` is 0.
  absl::Status Fetch(const HubName& name, const std::string& commit, const HubFile& file,
                     uint64_t from, bool in_parts,
                     const std::function<absl::Status(std::string)>& take,
                     const std::function<void(uint64_t)>& arrived);

 private:
  const HubSettings settings_;
  PiecePool* const pool_;
  const std::function<void(const std::string&)> say_;
};

}  // namespace mpsd::hub
