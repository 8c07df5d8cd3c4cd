// HubListing: the files of a model at the hub, and those that mpsd needs of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd::hub {

// A file as the hub lists it. `id` names the content: the SHA-256 of a large file, else git's id,
// in hexadecimal digits. The cache names its blobs so.
struct HubFile {
  std::string path;  // below the model's folder, with '/'
  std::string id;
  uint64_t bytes = 0;
};

// The size of all of them together. Pure.
uint64_t BytesOf(const std::vector<HubFile>& files);

struct HubListing {
  std::string commit;  // 40 hexadecimal digits
  std::vector<HubFile> files;
};

// Reads the hub's answer to "/api/models/ORG/NAME/revision/REVISION?blobs=true", and does not
// believe the hub. INTERNAL for another answer, and for a path that leads out of the model's folder
// or has odd characters. INTERNAL also for a wrong id or commit, and for more than 10,000 files.
// Pure.
absl::StatusOr<HubListing> ReadListing(absl::string_view json);

// The files that serving needs: configs, the tokenizer, the folders of sentence-transformers'
// modules, and the weights: safetensors, or a pytorch_model.bin in a folder without them.
// FAILED_PRECONDITION, with a text for a person, where the model has no config.json or no weights
// of these kinds. Pure.
absl::StatusOr<std::vector<HubFile>> NeededFiles(const HubListing& listing);

bool IsWeights(absl::string_view path);

// Whether the files of a snapshot have a config and all weights. Weights in several files say how
// many there are. NOT_FOUND names what is missing. Pure.
absl::Status CheckWhole(const std::vector<HubFile>& files);

}  // namespace mpsd::hub
