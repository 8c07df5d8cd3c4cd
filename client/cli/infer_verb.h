// infer_verb: the verb `infer`: one request to a running daemon, with its answer for people or
// programs.
//
// The steps, and the exit code of a failure in each:
//
//   1. MakePlan          the options are checked                    kExitUsage
//   2. ReadInputFiles    the tensors are read                       kExitNoInput
//   3. Connect           files of credentials, then the server      kExitNoInput, kExitNotReachable
//   4. make the inputs   after the model's metadata was asked for   kExitServerError, kExitUsage
//   5. Infer             the request and its answer                 kExitServerError
//   6. report, then the files of the outputs                        kExitCannotWrite
//
// The address decides between gRPC and HTTP (infer_server.h). Texts are sent unchanged: the server
// makes tokens of them. The verb opens no file that a server names.
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

// The options as on the command line: verbs.cc fills them while it parses, and MakePlan() checks
// them.
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

// The source of an input's array: an --input.
struct InputSource {
  std::string name;
  std::string path;   // its file; may be empty
  std::string words;  // elements as typed; empty, like `path`: random
};

struct InputFile {
  enum class Format { kNpy, kJson, kBytes };

  Format format = Format::kNpy;
  NpyArray array;       // set for kNpy
  std::string content;  // set for the other formats; the model says what it becomes
};

// A wanted output, and the file for it: an --output. Without any, every output is wanted.
struct OutputTarget {
  std::string name;
  std::string path;  // empty: not kept
};

// The checked options. Made by MakePlan(), then constant, owned by the verb's run.
struct InferPlan {
  absl::Duration timeout;
  std::vector<InputSource> inputs;
  std::map<std::string, Dims> shapes;  // by input; each is in `inputs`
  std::vector<OutputTarget> outputs;
};

// Checks that there is either an --input or a --text, at most kMaxBatchRows texts, and a --shape
// only for an --input. No dim may be below 0, and at most kMaxRank dims follow the batch dim.
// INVALID_ARGUMENT names the wrong option and its correct form. Pure, thread-safe.
absl::StatusOr<InferPlan> MakePlan(const InferOptions& options);

// Reads the plan's files, in the order of its inputs. An input without a file has an empty one. The
// end of its name or numpy's magic tells a file's format. A file has at most kMaxNpyBytes. Errors
// name the file, and are those of ReadWholeFile() and ParseNpy(). Blocks for the reading.
// Thread-safe.
absl::StatusOr<std::vector<InputFile>> ReadInputFiles(const InferPlan& plan);

// Does the steps above; writes the answer to `out`, or the error to `err`. Connecting, metadata and
// the inference may take the option `timeout` each. Never repeats the request. Returns an ExitCode.
// Thread-safe.
int RunInfer(const InferOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
