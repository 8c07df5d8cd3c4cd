// What a Triton model configuration says, carried over to a ModelConfig of ours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/config/config.h"

namespace mpsd {

// Which of a model's versions are served.
struct VersionPolicy {
  uint32_t latest = 1;            // so many of the highest; 0: see `specific`
  std::vector<int64_t> specific;  // these; none: all
};

// Thread-compatible, as all that follows. Beside the config it says what was left out of it.
struct TritonNotes {
  VersionPolicy versions;
  std::string file_name;             // of the model; empty: the usual ones
  std::vector<std::string> ignored;  // keys that are known but make no difference here
};

// Puts what the configuration says in the place of what `model` says; keys that it does not have
// leave `model` as it is. Every key is mapped, refused by its name (INVALID_ARGUMENT, `model` is
// then of no use), or noted as ignored.
//
// The JSON is a load's override.
absl::Status ApplyTritonJson(const std::string& json, ModelConfig* model, TritonNotes* notes);

// The same for the text of a config.pbtxt.
absl::Status ApplyTritonText(const std::string& text, ModelConfig* model, TritonNotes* notes);

}  // namespace mpsd
