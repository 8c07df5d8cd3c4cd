// HubClient: the hub's answers over HTTP, by libcurl.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/hub/hub_listing.h"
#include "client/hub/hub_settings.h"
#include "proto/files/hub_name.h"

namespace mpsd::hub {

// Follows at most 5 redirects, and from https to https alone; sends the token to the hub's own host
// only. What fails by the network, by a status of 5xx or by 429 is tried again, as long as it goes
// forward and five times where it does not, after what `Retry-After` says or a second and more.
// Proxies and authorities are libcurl's: `https_proxy`, `SSL_CERT_FILE`, `CURL_CA_BUNDLE`.
//
// Errors are for a person, and name the model: UNAUTHENTICATED the hub wants a token;
// PERMISSION_DENIED the model is gated; NOT_FOUND no such model, revision or file;
// RESOURCE_EXHAUSTED and UNAVAILABLE after the last try; INTERNAL an answer that is wrong in
// itself. Owned by one pull. Thread-compatible.
class HubClient {
 public:
  // `say` gets a line for a person where a wait is longer than a second.
  HubClient(HubSettings settings, std::function<void(const std::string&)> say);
  ~HubClient();

  // The files of the model at its revision. A hub that cannot be connected is not tried again: a
  // host without a network shall not wait.
  absl::StatusOr<HubListing> List(const HubName& name);

  // The content of `file` from the byte `from` on, in its order: `take` gets one piece after the
  // other and may refuse one with an error, which ends the transfer. `arrived` hears how many bytes
  // have come, also those that lie ahead of the next piece. `in_parts`: over several connections,
  // if the file is large. OUT_OF_RANGE where the hub sends files from the first byte only: the
  // caller then begins again, without parts. REQUIRES: `in_parts`, or `from` is 0.
  absl::Status Fetch(const HubName& name, const std::string& commit, const HubFile& file,
                     uint64_t from, bool in_parts,
                     const std::function<absl::Status(std::string)>& take,
                     const std::function<void(uint64_t)>& arrived);

 private:
  const HubSettings settings_;
  const std::function<void(const std::string&)> say_;
};

}  // namespace mpsd::hub
