#include "client/cli/infer_plan.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cli/file.h"
#include "proto/base/limits.h"

namespace mpsd::cli {
namespace {

absl::Status Wrong(absl::string_view option, absl::string_view value, absl::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", option, " ", value, ": ", wanted, " is expected"));
}

// Splits "name=rest"; the rest is empty without a '='.
std::pair<std::string, absl::string_view> SplitName(absl::string_view value) {
  return absl::StrSplit(value, absl::MaxSplits('=', 1));
}

absl::StatusOr<InputSource> ParseInput(const std::string& value) {
  auto [name, source] = SplitName(value);
  if (!name.empty() && source == "random") return InputSource{name, ""};
  if (name.empty() || !absl::ConsumePrefix(&source, "@") || source.empty()) {
    return Wrong("input", value, "NAME=@FILE.npy or NAME=random");
  }
  return InputSource{name, std::string(source)};
}

absl::StatusOr<OutputTarget> ParseOutput(const std::string& value) {
  auto [name, target] = SplitName(value);
  if (!name.empty() && name == value) return OutputTarget{name, ""};
  if (name.empty() || !absl::ConsumePrefix(&target, "@") || target.empty()) {
    return Wrong("output", value, "NAME or NAME=@FILE.npy");
  }
  return OutputTarget{name, std::string(target)};
}

absl::StatusOr<std::pair<std::string, Dims>> ParseShape(const std::string& value) {
  const auto [name, list] = SplitName(value);
  if (name.empty() || list.empty()) return Wrong("shape", value, "NAME=1,16");
  Dims dims;
  for (const absl::string_view item : absl::StrSplit(list, ',')) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(item, &dim) || dim < 0 || dims.size() > kMaxRank) {
      return Wrong("shape", value, "NAME=1,16");
    }
    dims.push_back(dim);
  }
  return std::make_pair(name, dims);
}

absl::Status CheckCombination(const InferOptions& options, const InferPlan& plan) {
  if (options.inputs.empty() && options.texts.empty()) {
    return absl::InvalidArgumentError("--input or --text is needed");
  }
  if (!options.inputs.empty() && !options.texts.empty()) {
    return absl::InvalidArgumentError("--input and --text exclude each other");
  }
  if (options.texts.size() > kMaxBatchRows) {
    return absl::InvalidArgumentError(absl::StrCat("at most ", kMaxBatchRows, " --text"));
  }
  for (const auto& [name, dims] : plan.shapes) {
    bool known = false;
    for (const InputSource& input : plan.inputs) known = known || input.name == name;
    if (!known) return absl::InvalidArgumentError(absl::StrCat("--shape ", name, ": no --input"));
  }
  return absl::OkStatus();
}

// Parses each of `values` into `list`.
template <class Item>
absl::Status ParseAll(const std::vector<std::string>& values,
                      absl::StatusOr<Item> (*parse)(const std::string&), std::vector<Item>* list) {
  for (const std::string& value : values) {
    absl::StatusOr<Item> item = parse(value);
    if (!item.ok()) return item.status();
    list->push_back(*std::move(item));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<InferPlan> MakePlan(const InferOptions& options) {
  InferPlan plan;
  const absl::StatusOr<absl::Duration> timeout = ParseTimeout(options.server);
  if (!timeout.ok()) return timeout.status();
  plan.timeout = *timeout;

  std::vector<std::pair<std::string, Dims>> shapes;
  absl::Status status = ParseAll(options.inputs, ParseInput, &plan.inputs);
  if (status.ok()) status = ParseAll(options.outputs, ParseOutput, &plan.outputs);
  if (status.ok()) status = ParseAll(options.shapes, ParseShape, &shapes);
  if (!status.ok()) return status;
  plan.shapes.insert(shapes.begin(), shapes.end());

  status = CheckCombination(options, plan);
  if (!status.ok()) return status;
  return plan;
}

absl::StatusOr<std::vector<NpyArray>> ReadInputFiles(const InferPlan& plan) {
  std::vector<NpyArray> arrays;
  for (const InputSource& input : plan.inputs) {
    if (input.path.empty()) {
      arrays.emplace_back();
      continue;
    }
    const absl::StatusOr<std::string> file = ReadWholeFile(input.path, kMaxNpyBytes);
    if (!file.ok()) return file.status();
    absl::StatusOr<NpyArray> array = ParseNpy(*file);
    if (!array.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(input.path, ": ", array.status().message()));
    }
    arrays.push_back(*std::move(array));
  }
  return arrays;
}

}  // namespace mpsd::cli
