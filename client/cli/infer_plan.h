// InferPlan: the options of `infer`, parsed and checked before anything is sent.
//
// The first step of the verb. All that can be wrong with the command line by itself is found here,
// before a file is read or a connection made: forms of options, and options that exclude each
// other. Whether names and shapes fit the model is known only once the server has described it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/infer_verb.h"
#include "client/cli/npy.h"
#include "proto/base/shape.h"

namespace mpsd::cli {

// Where an input's array comes from: an --input.
struct InputSource {
  std::string name;
  std::string path;  // empty: random
};

// A wanted output, and the file that keeps it: an --output. None at all means every output.
struct OutputTarget {
  std::string name;
  std::string path;  // empty: the output is not kept
};

// The checked options. Made by MakePlan(), constant afterwards, owned by the run of the verb.
struct InferPlan {
  absl::Duration timeout;
  std::vector<InputSource> inputs;
  std::map<std::string, Dims> shapes;  // by input; each of them is in `inputs`
  std::vector<OutputTarget> outputs;
};

// Checks that there is an --input or a --text, and not both; at most kMaxBatchRows texts; a --shape
// only for an --input; no dim below 0 and at most kMaxRank dims behind the batch dim.
// INVALID_ARGUMENT names the wrong option and the form that it should have. Pure, thread-safe.
absl::StatusOr<InferPlan> MakePlan(const InferOptions& options);

// Reads the plan's files, in the order of its inputs; the arrays of random inputs stay empty. A
// file has at most kMaxNpyBytes. Errors name the file, and are those of ReadWholeFile() and
// ParseNpy(). Blocks for the reading. Thread-safe.
absl::StatusOr<std::vector<NpyArray>> ReadInputFiles(const InferPlan& plan);

}  // namespace mpsd::cli
