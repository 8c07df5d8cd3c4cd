#include "client/cli/infer_inputs.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "client/cli/typed_input.h"
#include "client/format/elements.h"
#include "proto/link/json_object.h"

namespace mpsd::cli {
namespace {

const client::TensorMetadata* FindInput(const client::ModelMetadata& metadata,
                                        absl::string_view name) {
  for (const client::TensorMetadata& input : metadata.inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

absl::Status InputError(absl::string_view name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("input '", name, "': ", what));
}

absl::Status NoSuchInput(absl::string_view name, const client::ModelMetadata& metadata) {
  std::vector<std::string_view> names;
  for (const client::TensorMetadata& input : metadata.inputs) names.push_back(input.name);
  return InputError(name,
                    absl::StrCat("model '", metadata.name, "' has none of this name",
                                 DidYouMean({name.data(), name.size()}, names, "its inputs are")));
}

absl::StatusOr<Dims> RandomShape(const InferPlan& plan, const client::TensorMetadata& input,
                                 int64_t batch) {
  const auto asked = plan.shapes.find(input.name);
  if (asked != plan.shapes.end()) return asked->second;
  Dims shape = input.shape;
  if (batch > 0) {
    if (shape.empty() || shape[0] != -1) return InputError(input.name, "it takes no --batch");
    shape[0] = batch;
  }
  for (int64_t& dim : shape) dim = dim < 0 ? 1 : dim;
  return shape;
}

// REQUIRES: the format is not kNpy.
absl::StatusOr<NpyArray> ArrayOfFile(const InputFile& file, const client::TensorMetadata& input,
                                     const Dims* shape) {
  const bool is_json = file.format == InputFile::Format::kJson;
  return (is_json ? JsonArray : BytesArray)(file.content, input, shape);
}

absl::Status Reshape(const InferPlan& plan, const std::string& name, NpyArray* array) {
  const auto asked = plan.shapes.find(name);
  if (asked == plan.shapes.end()) return absl::OkStatus();
  if (ElementCount(asked->second) != ElementCount(array->shape)) {
    return InputError(name, absl::StrCat("its file holds ", ShapeText(array->shape),
                                         ", which does not make up ", ShapeText(asked->second)));
  }
  array->shape = asked->second;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<NamedArray>> TensorInputs(const InferPlan& plan,
                                                     std::vector<InputFile> files,
                                                     const client::ModelMetadata& metadata,
                                                     int64_t batch, uint64_t seed) {
  std::vector<NamedArray> arrays;
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const InputSource& source = plan.inputs[i];
    if (!source.path.empty() && files[i].format == InputFile::Format::kNpy) {
      const absl::Status status = Reshape(plan, source.name, &files[i].array);
      if (!status.ok()) return status;
      arrays.push_back({source.name, std::move(files[i].array)});
      continue;
    }
    const client::TensorMetadata* input = FindInput(metadata, source.name);
    if (input == nullptr) return NoSuchInput(source.name, metadata);
    if (source.path.empty() && source.words.empty()) {
      const absl::StatusOr<Dims> shape = RandomShape(plan, *input, batch);
      if (!shape.ok()) return shape.status();
      absl::StatusOr<NpyArray> array = RandomArray(input->datatype, *shape, &random);
      if (!array.ok()) return InputError(source.name, array.status().message());
      arrays.push_back({source.name, *std::move(array)});
      continue;
    }
    const auto asked = plan.shapes.find(source.name);
    const Dims* const shape = asked == plan.shapes.end() ? nullptr : &asked->second;
    absl::StatusOr<NpyArray> array = source.path.empty() ? WordsArray(source.words, *input, shape)
                                                         : ArrayOfFile(files[i], *input, shape);
    if (!array.ok()) return InputError(source.name, array.status().message());
    arrays.push_back({source.name, *std::move(array)});
  }
  return arrays;
}

absl::StatusOr<std::vector<NamedArray>> TextInputs(absl::Span<const std::string> texts,
                                                   const client::ModelMetadata& metadata) {
  const client::TensorMetadata* input = FindInput(metadata, "text");
  if (input == nullptr || input->datatype != DataType::kBytes) {
    return InputError("text", absl::StrCat("model '", metadata.name, "' takes no --text"));
  }
  const Dims shape = {static_cast<int64_t>(texts.size()), 1};
  return std::vector<NamedArray>{{"text", {DataType::kBytes, shape, client::PackBytes(texts)}}};
}

}  // namespace mpsd::cli
