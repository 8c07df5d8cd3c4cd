// Turns a model configuration of Triton into a ModelConfig.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/config/config.h"

namespace mpsd {

// Which versions of a model are served.
struct VersionPolicy {
  uint32_t latest = 1;            // this many of the highest; 0: see `specific`
  std::vector<int64_t> specific;  // these versions; empty: all
};

// What a configuration says that has no place in a ModelConfig. A value.
struct TritonNotes {
  VersionPolicy versions;
  std::string file_name;             // the name of the model's file; empty: model.pt or model.pt2
  std::vector<std::string> ignored;  // known keys that make no difference here
};

// Applies the `config` parameter of a load. A key of the configuration replaces what `model` says;
// a missing key leaves `model` as it is. Every key is mapped, refused by its name, or noted as
// ignored. After INVALID_ARGUMENT `model` must not be used. Thread-compatible.
absl::Status ApplyTritonJson(const std::string& json, ModelConfig* model, TritonNotes* notes);

// The same for the text of a config.pbtxt.
absl::Status ApplyTritonText(const std::string& text, ModelConfig* model, TritonNotes* notes);

}  // namespace mpsd
