// TritonConfig: turns a model configuration of Triton into a ModelConfig.
//
// People come with repositories that were written for Triton, and tools load models with the
// configuration as a parameter. Both say the same message, once as text and once as JSON. A key
// that were silently ignored could change answers, so each key is in exactly one of three groups:
//
//   mapped    name, platform, backend, input, output, max_batch_size, instance_group, parameters, …
//   refused   batch_input, model_operations, …: mpsd does not do it, and answers would differ
//   ignored   optimization, metric_tags, preserve_ordering, …: answers are the same without it;
//             the key is noted, and the log names it
//
// Both functions go through the same steps, and stop at the first error:
//
//   text or JSON ─▶ protobuf message ─▶ refused keys ─▶ mapped keys, each checked ─▶ ignored keys
//
// A model with ensemble_scheduling is one of steps (triton_steps.h), and has fewer keys.
//
// Nothing here opens a file: ModelRepository reads config.pbtxt and finds the model's versions.
// Whether the model's file agrees with the result, its worker finds out when it loads.
//
// The table for people is in docs/coming-from-triton.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/config/config.h"

namespace mpsd {

// Which versions of a model are served. At most one of `latest` and `specific` says something.
struct VersionPolicy {
  uint32_t latest = 1;            // this many of the highest; 0: see `specific`
  std::vector<int64_t> specific;  // these versions; empty: all
};

// The keys of a configuration that have no place in a ModelConfig, since ModelRepository alone uses
// it. A value.
struct TritonNotes {
  VersionPolicy versions;
  std::string file_name;  // the name of the model's file; empty: model.pt or model.pt2
  // The files of the warm-up's data, as config.pbtxt names them: for each sample and each of its
  // inputs in their order; empty: the input has none.
  std::vector<std::vector<std::string>> data_files;
  std::vector<std::string> ignored;  // known keys that make no difference here
};

// Applies the `config` parameter of a load, by a client, on the thread `reloader`. A key of the
// configuration replaces what `model` says; a missing key leaves `model` as it is. The result obeys
// every rule of a config for tensors. The versions and the name of the file are noted as ignored:
// the folder says those.
//
// A warm-up that names data files is refused, since they would come from the client's words.
//
// INVALID_ARGUMENT names the key at fault, in printable ASCII, also where the JSON is none or has
// more than 1 MiB; after that `model` must not be used. Thread-compatible.
absl::Status ApplyTritonJson(const std::string& json, ModelConfig* model, TritonNotes* notes);

// The same for the text of a config.pbtxt, whose versions and file name count. A text that is no
// configuration is reported with its first line at fault.
absl::Status ApplyTritonText(const std::string& text, ModelConfig* model, TritonNotes* notes);

}  // namespace mpsd
