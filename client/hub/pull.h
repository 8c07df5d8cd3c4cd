// Pull: brings a model from the hub into the cache, whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/hub/hub_listing.h"
#include "client/hub/hub_settings.h"
#include "proto/files/hub_name.h"

namespace mpsd::hub {

// Counts bytes, with those that the cache had before.
struct PullProgress {
  std::string file;  // the file that arrives
  uint64_t file_done = 0;
  uint64_t file_bytes = 0;
  uint64_t done = 0;
  uint64_t bytes = 0;
};

struct PullWatch {
  std::function<void(const PullProgress&)> progress;  // several times a second
  std::function<void(const std::string&)> say;        // a wait, or a further try
};

struct PulledModel {
  std::string path;  // the snapshot's folder
  std::string commit;
  std::vector<HubFile> files;  // all that mpsd needs
  uint64_t fetched = 0;        // bytes over the network now
};

// All that mpsd needs, or the small files that say what the model is.
enum class Wanted { kAll, kConfigs };

// Fetches the needed files that the cache lacks. A file is checked against the hub's id, and has
// its name only once it is whole. A killed pull leaves a beginning, with which the next pull goes
// on. Waits while another process fetches the same file. With HF_HUB_OFFLINE asks only the cache.
// Blocks.
//
// Errors begin with the model's name; most are HubClient's and NeededFiles()'. DATA_LOSS: the file
// system has no room or cannot be written. INTERNAL: a file's content is wrong.
absl::StatusOr<PulledModel> Pull(const HubSettings& settings, const HubName& name,
                                 const PullWatch& watch, Wanted wanted = Wanted::kAll);

}  // namespace mpsd::hub
