#include "server/bodies/json/raw_body.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/datatype.h"
#include "server/bodies/json/body_keeper.h"
#include "server/bodies/json/told_shape.h"

namespace mpsd {
namespace {

// Whether the bytes are whole elements that fit some shape.
bool FindShape(const TensorSpec& tensor, bool batches, uint64_t bytes, InferBody::Shape* shape) {
  const size_t element_bytes = ElementBytes(tensor.datatype);
  if (element_bytes == 0) return ToldShape(tensor, batches, 1, shape);
  return bytes % element_bytes == 0 && ToldShape(tensor, batches, bytes / element_bytes, shape);
}

// A BYTES element needs its length before it, and so is copied.
void PutLength(uint64_t bytes, BodyKeeper* keeper) {
  const auto length = static_cast<uint32_t>(bytes);
  keeper->copies()->bytes.assign(reinterpret_cast<const char*>(&length), sizeof(length));
  keeper->AddCopied(0);
}

}  // namespace

absl::Status ReadRawBody(std::string body, const ModelSpec& spec, uint64_t message_bytes,
                         InferMessage* message, InferBody* request) {
  const size_t bytes = body.size();
  BodyKeeper keeper(request, std::move(body), /*json_bytes=*/0, message_bytes, message);
  keeper.SetBinaryByDefault(true);
  if (spec.inputs.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("Raw request must only have 1 input (found 1) to be deduced but got ",
                     spec.inputs.size(), " inputs in '", message->model, "' model configuration"));
  }
  const TensorSpec& tensor = spec.inputs[0];
  if (std::count(tensor.told_dims().begin(), tensor.told_dims().end(), -1) > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("The shape of the raw input '", tensor.name,
                     "' can not be deduced because there are more than one variable-sized "
                     "dimension"));
  }
  InferBody::Shape* const shape = keeper.AddShape();
  if (!FindShape(tensor, spec.batches(), bytes, shape)) {
    return absl::InvalidArgumentError(absl::StrCat("no shape of input '", tensor.name,
                                                   "' for model '", message->model, "' has ", bytes,
                                                   " bytes"));
  }
  InputMessage& input = message->inputs.emplace_back();
  input.name = keeper.CopyText(tensor.name);
  input.datatype = DataTypeName(tensor.datatype);
  input.dims = *shape;
  input.has_data = true;
  if (tensor.datatype == DataType::kBytes) PutLength(bytes, &keeper);
  keeper.End();
  input.payload.Append(keeper.binary());
  return absl::OkStatus();
}

}  // namespace mpsd
