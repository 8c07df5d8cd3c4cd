// infer_inputs: the tensors that `infer` sends, from files, at random, or from texts.
//
// The fourth step of the verb (infer_verb.h): the files are read, the server has described its
// model, and nothing was sent yet. A request has inputs from TensorInputs() or from TextInputs(),
// never from both; the plan has checked that.
//
//   --input a=@a.npy --input b=random --shape b=2,3   TensorInputs(): a of the file, b random
//   --text "one" --text "two words"                   TextInputs(): text, two rows of BYTES
//
// Most mistakes are left to the server, whose error text says what it expects. Only mistakes that
// prevent a tensor are found here.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/cli/infer_verb.h"
#include "client/client.h"
#include "client/format/npy.h"

namespace mpsd::cli {

// An input of the request. The verb keeps its bytes until the answer.
struct NamedArray {
  std::string name;
  NpyArray array;
};

// The arrays of `plan`, in the order of its inputs. `files` come from ReadInputFiles().
//
//   NAME=@FILE    the file's array; with --shape the same elements in that shape; for JSON
//                 JsonArray(), for a file in another format BytesArray()
//   NAME=1,2,3    WordsArray()
//   NAME=random   RandomArray() of the model's datatype, in the shape of --shape or else of the
//                 model, whose open dims become 1, but dim 0 becomes `batch` if that is not 0
//
// INVALID_ARGUMENT names the input if a file has the wrong number of elements for its --shape, or
// the input takes no --batch. If the datatype comes from the model, the model must have the input.
// Equal `seed`s give equal arrays. Pure, thread-safe.
absl::StatusOr<std::vector<NamedArray>> TensorInputs(const InferPlan& plan,
                                                     std::vector<InputFile> files,
                                                     const client::ModelMetadata& metadata,
                                                     int64_t batch, uint64_t seed);

// The texts as the input "text", BYTES of shape [n,1]; the server makes tokens of them.
// INVALID_ARGUMENT if the model has no such input. Pure, thread-safe.
absl::StatusOr<std::vector<NamedArray>> TextInputs(absl::Span<const std::string> texts,
                                                   const client::ModelMetadata& metadata);

}  // namespace mpsd::cli
