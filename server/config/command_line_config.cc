#include "server/config/command_line_config.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "proto/base/limits.h"
#include "server/config/config_values.h"
#include "server/config/tokenizer_stamp.h"

namespace mpsd {
namespace {

constexpr uint32_t kDefaultMaxBatchSize = 64;

// A name that clients may use, made from the name of a file, or of a folder.
std::string NameOfModel(const std::string& written_path, ModelFormat format) {
  std::filesystem::path path(written_path);
  if (!path.has_filename()) path = path.parent_path();  // it ends in a slash
  const bool is_folder = format == ModelFormat::kHuggingFace;
  std::string name = is_folder ? path.filename().string() : path.stem().string();
  for (char& c : name) {
    if (!ServableNameFault(std::string("x") + c).empty()) c = '-';
  }
  const auto is_alnum = [](unsigned char c) { return absl::ascii_isalnum(c); };
  name.erase(name.begin(), std::find_if(name.begin(), name.end(), is_alnum));
  if (name.size() > kMaxNameBytes) name.resize(kMaxNameBytes);
  return name.empty() ? "model" : name;
}

// Turns the whole shapes of a command line into those of a spec, which leave out the batch dim.
absl::Status SetInputs(std::vector<TensorSpec> inputs, uint32_t max_batch_size, ModelSpec* spec) {
  const auto batches = [](const TensorSpec& input) {
    return !input.dims.empty() && input.dims.front() == -1;
  };
  const bool any = std::any_of(inputs.begin(), inputs.end(), batches);
  spec->max_batch_size = max_batch_size;
  if (any && !std::all_of(inputs.begin(), inputs.end(), batches)) {
    return absl::InvalidArgumentError(
        "either all inputs begin with a batch dim of -1 or none does");
  }
  if (!inputs.empty() && !any && max_batch_size > 0) {
    return absl::InvalidArgumentError(
        "a batch size was given, but no input begins with a batch dim of -1");
  }
  if (any && max_batch_size == 0) spec->max_batch_size = kDefaultMaxBatchSize;
  for (TensorSpec& input : inputs) {
    if (any) input.dims.erase(input.dims.begin());
  }
  spec->inputs = std::move(inputs);
  // Reading the JSON form back checks the inputs by every rule of a config.
  return ModelSpecFromJson(ToJson(*spec)).status();
}

// The model of a file or folder, without its inputs.
absl::StatusOr<ModelConfig> ModelOf(const std::string& file) {
  const std::optional<ModelFormat> format = FormatOfPath(file);
  const std::string fault = format == ModelFormat::kHuggingFace ? "" : FileFault(file);
  if (!fault.empty()) return absl::NotFoundError(fault);
  if (!format.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("'", file, "' ends in neither .pt nor .pt2"));
  }
  absl::StatusOr<std::string> path = AbsolutePath(file);
  if (!path.ok()) return path.status();
  ModelConfig model;
  model.name = NameOfModel(*path, *format);
  model.path = *std::move(path);
  model.stamp = StampOf(model.path);
  model.format = *format;
  if (*format == ModelFormat::kHuggingFace) model.text.tokenizer = TokenizerIn(model.path);
  if (!model.text.tokenizer.empty()) {
    model.tokenizer_stamp = StampOfTokenizer(model.text.tokenizer);
  }
  return model;
}

// A config without models, with the default for everything else.
Config ConfigWhereNothingIsSaid() {
  Config config;
  config.state_dir = DefaultStateDir();
  config.listen.grpc = DefaultGrpcAddresses(config.state_dir);
  // The default socket is left out if its path is too long: no config can name another.
  if (!AddressFault(config.listen.grpc.back(), /*unix_allowed=*/true).empty()) {
    config.listen.grpc.pop_back();
  }
  return config;
}

}  // namespace

absl::StatusOr<std::string> FindConfig(absl::Span<const std::string_view> places) {
  std::vector<std::string> missing;
  for (const std::string_view place : places) {
    absl::StatusOr<std::string> path = AbsolutePath(std::string(place));
    std::error_code error;
    if (!path.ok() || std::filesystem::exists(*path, error)) return path;
    missing.push_back(*std::move(path));
  }
  return absl::NotFoundError(
      absl::StrCat("there is no config: neither ", absl::StrJoin(missing, " nor "),
                   "; `mpsd init MODEL.pt` writes one, `mpsd serve MODEL.pt` needs none"));
}

absl::StatusOr<Config> ConfigFromModelFiles(const std::vector<std::string>& files,
                                            const std::vector<TensorSpec>& inputs,
                                            uint32_t max_batch_size) {
  if (files.size() > 1 && (!inputs.empty() || max_batch_size > 0)) {
    return absl::InvalidArgumentError(
        "inputs and a batch size are those of one model, and several are given");
  }
  if (files.size() > kMaxModels) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.size(), " models are given; at most ", kMaxModels, " are served"));
  }
  Config config = ConfigWhereNothingIsSaid();
  for (const std::string& file : files) {
    absl::StatusOr<ModelConfig> model = ModelOf(file);
    if (!model.ok()) return model.status();
    const absl::Status status = SetInputs(inputs, max_batch_size, &model->spec);
    if (!status.ok()) return status;
    for (const ModelConfig& other : config.models) {
      if (other.name != model->name) continue;
      return absl::InvalidArgumentError(absl::StrCat("'", other.path, "' and '", model->path,
                                                     "' would both be model '", model->name, "'"));
    }
    config.models.push_back(*std::move(model));
  }
  return config;
}

absl::StatusOr<Config> ConfigFromRepository(const std::string& folder, bool explicit_control) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat("there is no folder '", folder, "'"));
  }
  absl::StatusOr<std::string> path = AbsolutePath(folder);
  if (!path.ok()) return path.status();
  Config config = ConfigWhereNothingIsSaid();
  config.model_repository = *std::move(path);
  if (explicit_control) config.model_control = ModelControlMode::kExplicit;
  return config;
}

}  // namespace mpsd
