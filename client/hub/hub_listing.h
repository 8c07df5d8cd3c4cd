// HubListing: the files of a model at the hub, and which of them mpsd needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd::hub {

// `id` names the content, and the cache's blob: the SHA-256 of a large file, else git's id, in
// hexadecimal.
struct HubFile {
  std::string path;  // below the model's folder
  std::string id;
  uint64_t bytes = 0;
};

// Pure.
uint64_t BytesOf(const std::vector<HubFile>& files);

struct HubListing {
  std::string commit;  // 40 hexadecimal digits
  std::vector<HubFile> files;
};

// The hub's answer to "/api/models/ORG/NAME/revision/REVISION?blobs=true". INTERNAL for another
// answer, a path that leads out or has odd characters, a wrong id or commit, and more than 10,000
// files. Pure.
absl::StatusOr<HubListing> ReadListing(absl::string_view json);

// Configs, the tokenizer, folders of sentence-transformers' modules, and safetensors, or a
// pytorch_model.bin in a folder without. FAILED_PRECONDITION, for a person: no config.json, or no
// such weights. Pure.
absl::StatusOr<std::vector<HubFile>> NeededFiles(const HubListing& listing);

bool IsWeights(absl::string_view path);

// Whether a snapshot has a config and all weights; names of shards say how many. NOT_FOUND names
// what is missing. Pure.
absl::Status CheckWhole(const std::vector<HubFile>& files);

}  // namespace mpsd::hub
