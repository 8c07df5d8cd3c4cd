// TritonConfig: turns a Triton model configuration into a ModelConfig.
//
// People bring repositories that were written for Triton, and tools pass the configuration as a
// parameter when they load a model. Both forms are the same message, as text and as JSON. A
// silently ignored key could change answers, so each key is in exactly one of three groups:
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
// Nothing here opens a file: ModelRepository reads config.pbtxt and finds the model's versions. The
// worker finds out whether the model's file agrees when it loads it. docs/coming-from-triton.md has
// the table for users.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/config/config.h"

namespace mpsd {

// Which versions of a model are served. At most one of `latest` and `specific` is set.
struct VersionPolicy {
  uint32_t latest = 1;            // this many of the highest versions; 0: see `specific`
  std::vector<int64_t> specific;  // these versions; empty: all
};

// Keys of a configuration without a place in ModelConfig, because only ModelRepository uses them. A
// value.
struct TritonNotes {
  VersionPolicy versions;
  std::string file_name;  // the name of the model's file; empty: model.pt or model.pt2
  // The files of the warm-up's data, by sample and input, as config.pbtxt names them; empty: the
  // input has none.
  std::vector<std::vector<std::string>> data_files;
  std::vector<std::string> ignored;  // known keys that make no difference here
};

// Applies the `config` parameter of a client's load, on the thread `reloader`. A key of the
// configuration replaces what `model` says; a missing key leaves `model` as it is. The result obeys
// all rules of a config for tensors. Versions and file names are noted as ignored, because the
// folder says them. A warm-up with data files is refused, since the client would choose the files.
//
// INVALID_ARGUMENT names the key at fault, in printable ASCII, also if the JSON is invalid or has
// more than 1 MiB; `model` must not be used then. Thread-compatible.
absl::Status ApplyTritonJson(const std::string& json, ModelConfig* model, TritonNotes* notes);

// The same for the text of a config.pbtxt, whose versions and file name count. If the text is no
// configuration, the error gives the first line at fault.
absl::Status ApplyTritonText(const std::string& text, ModelConfig* model, TritonNotes* notes);

}  // namespace mpsd
