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

// How far a pull is, in bytes. Each count includes the bytes that the cache had before.
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
  std::vector<HubFile> files;  // all that mpsd needs of the model
  uint64_t fetched = 0;        // bytes that came over the network now
};

// Which files Pull() fetches: all that mpsd needs, or the small ones that say what the model is.
enum class Wanted { kAll, kConfigs };

// Fetches the files that mpsd needs and the cache lacks. Each file is checked against the id that
// the hub lists, and has its name in the cache only once it is whole and right. A killed pull
// leaves the beginning of a file, with which the next pull goes on. Where another process fetches
// the same file, the pull waits. With HF_HUB_OFFLINE only the cache is asked. Blocks.
//
// Errors begin with the model's name. HubClient and NeededFiles() make most of them. DATA_LOSS: the
// file system has no room or cannot be written. INTERNAL: a file's content is wrong.
absl::StatusOr<PulledModel> Pull(const HubSettings& settings, const HubName& name,
                                 const PullWatch& watch, Wanted wanted = Wanted::kAll);

}  // namespace mpsd::hub
