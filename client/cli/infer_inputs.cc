#include "client/cli/infer_inputs.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "client/cli/elements.h"

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

NamedArray Int64Array(std::string name, const Dims& shape, const std::vector<int64_t>& values) {
  const client::InferInput input = client::MakeInput<int64_t>(std::move(name), shape, values);
  return {input.name, {input.datatype, shape, {input.bytes.data(), input.bytes.size()}}};
}

}  // namespace

absl::StatusOr<std::vector<NamedArray>> TensorInputs(const InferPlan& plan,
                                                     std::vector<NpyArray> files,
                                                     const client::ModelMetadata& metadata,
                                                     int64_t batch, uint64_t seed) {
  std::vector<NamedArray> arrays;
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const std::string& name = plan.inputs[i].name;
    if (!plan.inputs[i].path.empty()) {
      const absl::Status status = Reshape(plan, name, &files[i]);
      if (!status.ok()) return status;
      arrays.push_back({name, std::move(files[i])});
      continue;
    }
    const client::TensorMetadata* input = FindInput(metadata, name);
    if (input == nullptr) {
      return InputError(name, absl::StrCat("model '", metadata.name, "' has none of this name"));
    }
    const absl::StatusOr<Dims> shape = RandomShape(plan, *input, batch);
    if (!shape.ok()) return shape.status();
    absl::StatusOr<NpyArray> array = RandomArray(input->datatype, *shape, &random);
    if (!array.ok()) return InputError(name, array.status().message());
    arrays.push_back({name, *std::move(array)});
  }
  return arrays;
}

absl::StatusOr<std::vector<NamedArray>> TextInputs(absl::Span<const std::string> texts,
                                                   const WordPiece& pieces,
                                                   const client::ModelMetadata& metadata,
                                                   std::vector<size_t>* token_counts,
                                                   std::vector<size_t>* cut_counts) {
  for (const char* name : {"input_ids", "attention_mask"}) {
    if (FindInput(metadata, name) == nullptr) {
      return InputError(name, absl::StrCat("model '", metadata.name,
                                           "' has none of this name: it takes no --text"));
    }
  }
  std::vector<std::vector<int64_t>> rows;
  size_t longest = 0;
  for (const std::string& text : texts) {
    Tokens tokens = pieces.Encode(text);
    cut_counts->push_back(tokens.cut_count);
    rows.push_back(std::move(tokens.ids));
    token_counts->push_back(rows.back().size());
    longest = std::max(longest, rows.back().size());
  }
  std::vector<int64_t> ids(rows.size() * longest, pieces.pad_id());
  std::vector<int64_t> mask(rows.size() * longest, 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy(rows[i].begin(), rows[i].end(), ids.begin() + static_cast<int64_t>(i * longest));
    std::fill_n(mask.begin() + static_cast<int64_t>(i * longest), rows[i].size(), 1);
  }
  const Dims shape = {static_cast<int64_t>(rows.size()), static_cast<int64_t>(longest)};
  std::vector<NamedArray> arrays = {Int64Array("input_ids", shape, ids),
                                    Int64Array("attention_mask", shape, mask)};
  if (FindInput(metadata, "token_type_ids") != nullptr) {
    const std::vector<int64_t> zeros(ids.size(), 0);
    arrays.push_back(Int64Array("token_type_ids", shape, zeros));
  }
  return arrays;
}

}  // namespace mpsd::cli
