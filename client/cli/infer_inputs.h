// infer_inputs: the tensors that `infer` sends, from files, at random, or from texts.
//
//   --input a=@a.npy --input b=random --shape b=2,3   TensorInputs(): a of the file, b random
//   --text "one" --text "two words"                   TextInputs(): text, two rows of BYTES
//
// The files are read, and the server has described its model. Only mistakes that prevent a tensor
// are found here: the server's error text says what it expects.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/cli/infer_verb.h"
#include "client/client.h"
#include "client/format/npy.h"

namespace mpsd::cli {

// The verb keeps the bytes until the answer.
struct NamedArray {
  std::string name;
  NpyArray array;
};

// The arrays are in the order of the plan's inputs. `files` are ReadInputFiles()'.
//
//   NAME=@FILE    the file's array; with --shape the same elements in that shape; for JSON
//                 JsonArray(), for a file in another format BytesArray()
//   NAME=1,2,3    WordsArray()
//   NAME=random   RandomArray() of the model's datatype, in the shape of --shape or else of the
//                 model, whose open dims become 1, but dim 0 becomes `batch` if that is not 0
//
// INVALID_ARGUMENT names an input whose file does not fill its --shape, that takes no --batch, or
// that the model lacks. Equal `seed`s give equal arrays. Pure, thread-safe.
absl::StatusOr<std::vector<NamedArray>> TensorInputs(const InferPlan& plan,
                                                     std::vector<InputFile> files,
                                                     const client::ModelMetadata& metadata,
                                                     int64_t batch, uint64_t seed);

// The input "text", BYTES of shape [n,1]. INVALID_ARGUMENT: the model has no such input. Pure,
// thread-safe.
absl::StatusOr<std::vector<NamedArray>> TextInputs(absl::Span<const std::string> texts,
                                                   const client::ModelMetadata& metadata);

}  // namespace mpsd::cli
