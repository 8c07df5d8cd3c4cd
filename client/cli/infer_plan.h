// InferPlan: the options of `infer`, parsed and checked before anything is sent.
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

// Where an input's array comes from.
struct InputSource {
  std::string name;
  std::string path;  // empty: random
};

// A wanted output, and the file that keeps it.
struct OutputTarget {
  std::string name;
  std::string path;  // empty: the output is not kept
};

// The checked options. Made by MakePlan(), constant afterwards.
struct InferPlan {
  absl::Duration timeout;
  std::vector<InputSource> inputs;
  std::map<std::string, Dims> shapes;
  std::vector<OutputTarget> outputs;
};

// INVALID_ARGUMENT names the wrong option. Pure, thread-safe.
absl::StatusOr<InferPlan> MakePlan(const InferOptions& options);

// Reads the plan's files, in the order of its inputs; the arrays of random inputs stay empty.
// Errors name the file. Thread-safe.
absl::StatusOr<std::vector<NpyArray>> ReadInputFiles(const InferPlan& plan);

}  // namespace mpsd::cli
