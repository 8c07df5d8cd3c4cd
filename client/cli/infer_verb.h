// infer_verb: the verb `infer`: one request to a running daemon, with its answer.
//
//   1. MakePlan          the options are checked                    kExitUsage
//   2. ReadInputFiles    the tensors are read                       kExitNoInput
//   3. Connect           files of credentials, then the server      kExitNoInput, kExitNotReachable
//   4. make the inputs   after the model's metadata was asked for   kExitServerError, kExitUsage
//   5. Infer             the request and its answer                 kExitServerError
//   6. report, then the files of the outputs                        kExitCannotWrite
//
// The server makes tokens of texts. The verb opens no file that a server names.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/server_options.h"
#include "client/format/npy.h"
#include "proto/base/shape.h"

namespace mpsd::cli {

// Filled by verbs.cc, checked by MakePlan().
struct InferOptions {
  ServerOptions server;
  std::string model;
  std::string version;
  std::string id;
  std::vector<std::string> inputs;  // NAME=1,2,3, NAME=@FILE, NAME=random
  std::vector<std::string> shapes;  // NAME=1,16
  std::vector<std::string> texts;
  std::vector<std::string> outputs;  // NAME, NAME=@FILE.npy
  int64_t batch = 0;                 // 0: not given
  uint64_t seed = 1;
};

// An --input.
struct InputSource {
  std::string name;
  std::string path;   // its file; may be empty
  std::string words;  // elements as typed; empty, like `path`: random
};

struct InputFile {
  enum class Format { kNpy, kJson, kBytes };

  Format format = Format::kNpy;
  NpyArray array;       // for kNpy
  std::string content;  // for other formats; the model says what it becomes
};

// An --output. Without any, every output is wanted.
struct OutputTarget {
  std::string name;
  std::string path;  // empty: not kept
};

// Made by MakePlan(), then constant.
struct InferPlan {
  absl::Duration timeout;
  std::vector<InputSource> inputs;
  std::map<std::string, Dims> shapes;  // each is in `inputs`
  std::vector<OutputTarget> outputs;
};

// Either an --input or a --text; at most kMaxBatchRows texts; a --shape only for an --input, with
// dims of 0 or more, at most kMaxRank after the batch dim. INVALID_ARGUMENT names the wrong option
// and its correct form. Pure, thread-safe.
absl::StatusOr<InferPlan> MakePlan(const InferOptions& options);

// Files are in the order of the inputs; an input without a file has an empty one. The name's end or
// numpy's magic tells the format. Errors name the file, and are ReadWholeFile()'s and ParseNpy()'s.
// Blocks. Thread-safe.
absl::StatusOr<std::vector<InputFile>> ReadInputFiles(const InferPlan& plan);

// Does the steps above. Connecting, metadata and the inference may take `timeout` each. Never
// repeats the request. Thread-safe.
int RunInfer(const InferOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
