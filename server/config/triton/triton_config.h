// TritonConfig: turns a Triton model configuration into a ModelConfig.
//
// A silently ignored key could change answers, so each key is in one of three groups:
//
//   mapped    name, platform, backend, input, output, max_batch_size, instance_group, parameters, …
//   refused   batch_input, model_operations, …: mpsd does not do it, and answers would differ
//   ignored   optimization, metric_tags, preserve_ordering, …: answers are the same without it;
//             the key is noted, and the log names it
//
// A model with ensemble_scheduling is one of steps (triton_steps.h), and has fewer keys. Nothing
// here opens a file. docs/coming-from-triton.md has the table for users.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/config/config.h"

namespace mpsd {

// At most one of the two is set.
struct VersionPolicy {
  uint32_t latest = 1;            // this many of the highest; 0: see `specific`
  std::vector<int64_t> specific;  // empty: all
};

// Keys that only ModelRepository uses. A value.
struct TritonNotes {
  VersionPolicy versions;
  std::string file_name;  // the model's file; empty: model.pt or model.pt2
  // Files of the warm-up's data, by sample and input; empty: none.
  std::vector<std::vector<std::string>> data_files;
  std::vector<std::string> ignored;  // known keys that make no difference here
};

// Applies a client's `config`, on the thread `reloader`. Its keys replace what `model` says;
// tensors obey all rules of a config. Versions and file names are ignored, since the folder says
// them. A warm-up with data files is refused: the client would choose the files.
//
// INVALID_ARGUMENT names the key at fault, in printable ASCII; also for invalid JSON or more than 1
// MiB. Do not use `model` then. Thread-compatible.
absl::Status ApplyTritonJson(const std::string& json, ModelConfig* model, TritonNotes* notes);

// The same for a config.pbtxt, whose versions and file name count. Errors of form give the first
// line at fault.
absl::Status ApplyTritonText(const std::string& text, ModelConfig* model, TritonNotes* notes);

}  // namespace mpsd
