#include "server/config/command_line_config.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "proto/base/limits.h"
#include "proto/files/hub_name.h"
#include "server/config/config_values.h"
#include "server/config/tokenizer_stamp.h"

namespace mpsd {
namespace {

constexpr uint32_t kDefaultMaxBatchSize = 64;
constexpr uint16_t kDefaultPort = 8001;

// A servable name for a file or a folder.
std::string NameOfModel(const std::string& written_path, ModelFormat format) {
  std::filesystem::path path(written_path);
  if (!path.has_filename()) path = path.parent_path();  // it ends in a slash
  const bool is_folder = format == ModelFormat::kHuggingFace;
  const std::optional<std::string> at_hub = hub::NameOfSnapshot(path.string());
  std::string name = at_hub.has_value() ? *at_hub
                     : is_folder        ? path.filename().string()
                                        : path.stem().string();
  for (char& c : name) {
    if (!ServableNameFault(std::string("x") + c).empty()) c = '-';
  }
  const auto is_alnum = [](unsigned char c) { return absl::ascii_isalnum(c); };
  name.erase(name.begin(), std::find_if(name.begin(), name.end(), is_alnum));
  if (name.size() > kMaxNameBytes) name.resize(kMaxNameBytes);
  return name.empty() ? "model" : name;
}

// From whole shapes to a spec's, which leave out the batch dim.
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
  // Reading the JSON back checks the inputs by a config's rules.
  return ModelSpecFromJson(ToJson(*spec)).status();
}

// A file that is no model by itself, though it may be a part of one.
std::string NoModelText(const std::string& file) {
  const std::string text = absl::StrCat("'", file, "' ends in neither .pt nor .pt2");
  for (const absl::string_view part : {".safetensors", ".json", ".bin"}) {
    if (absl::EndsWith(file, part)) {
      return text + "; of a model of Hugging Face's, name the folder that has its config.json";
    }
  }
  return text;
}

// Without its inputs.
absl::StatusOr<ModelConfig> ModelOf(const std::string& file) {
  const std::optional<ModelFormat> format = FormatOfPath(file);
  const std::string fault = ModelPathFault(file, format.value_or(ModelFormat::kTorchScript));
  if (absl::EndsWith(fault, kNoConfigInFolder)) {
    return absl::NotFoundError(fault + "; --model-repository takes a folder of models");
  }
  if (!fault.empty()) return absl::NotFoundError(fault);
  if (!format.has_value()) return absl::InvalidArgumentError(NoModelText(file));
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

// Finds mistakes that do not depend on the files.
absl::Status CheckFlags(size_t file_count, const ModelFlags& flags) {
  const bool says_tensors = !flags.inputs.empty() || flags.max_batch_size > 0;
  if (file_count > 1 && says_tensors) {
    return absl::InvalidArgumentError(
        "inputs and a batch size are those of one model, and several are given");
  }
  if (file_count > 1 && !flags.name.empty()) {
    return absl::InvalidArgumentError("--name is that of one model, and several are given");
  }
  if (file_count > kMaxModels) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_count, " models are given; at most ", kMaxModels, " are served"));
  }
  const std::string name_fault = flags.name.empty() ? "" : ServableNameFault(flags.name);
  if (!name_fault.empty()) return absl::InvalidArgumentError("--name " + name_fault);
  const std::string device_fault = DeviceFault(flags.device);
  if (!device_fault.empty()) return absl::InvalidArgumentError("--device: " + device_fault);
  return absl::OkStatus();
}

// This one, and the default socket unless its path is too long.
std::vector<std::string> AddressesOf(const std::string& address, const Config& config) {
  const std::string socket = DefaultGrpcAddresses(config.state_dir).back();
  const bool fits = AddressFault(socket, /*unix_allowed=*/true).empty();
  return fits ? std::vector<std::string>{address, socket} : std::vector<std::string>{address};
}

Config ConfigWhereNothingIsSaid() {
  Config config;
  config.state_dir = DefaultStateDir();
  config.listen.grpc = AddressesOf(DefaultGrpcAddresses(config.state_dir).front(), config);
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
                                            const ModelFlags& flags) {
  if (absl::Status status = CheckFlags(files.size(), flags); !status.ok()) return status;
  Config config = ConfigWhereNothingIsSaid();
  config.keep_going = flags.keep_going;
  for (const std::string& file : files) {
    absl::StatusOr<ModelConfig> model = ModelOf(file);
    if (!model.ok()) return model.status();
    model->device = flags.device;
    if (!flags.name.empty()) model->name = flags.name;
    const absl::Status status = SetInputs(flags.inputs, flags.max_batch_size, &model->spec);
    if (!status.ok()) return status;
    model->inputs_by_name = true;
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
  const std::string fault = RepositoryFault(folder);
  if (!fault.empty()) return absl::NotFoundError(fault);
  absl::StatusOr<std::string> path = AbsolutePath(folder);
  if (!path.ok()) return path.status();
  Config config = ConfigWhereNothingIsSaid();
  config.model_repository = *std::move(path);
  if (explicit_control) config.model_control = ModelControlMode::kExplicit;
  return config;
}

absl::Status ReadEnvironment(const std::function<const char*(const char*)>& variable,
                             ListenFlags* listen, ModelFlags* model) {
  const auto value = [&variable](const char* name) {
    const char* const text = variable(name);
    return std::string(text == nullptr ? "" : text);
  };
  const auto read_port = [&value](const char* name, std::optional<uint16_t>* port) {
    const std::string text = value(name);
    uint32_t number = 0;
    // Kubernetes sets MPSD_PORT to tcp://ADDRESS:PORT for a Service of the name mpsd.
    const bool is_of_service =
        absl::string_view(name) == "MPSD_PORT" && absl::StartsWith(text, "tcp://");
    if (port->has_value() || text.empty() || is_of_service) return absl::OkStatus();
    if (!absl::SimpleAtoi(text, &number) || number > UINT16_MAX) {
      return absl::InvalidArgumentError(absl::StrCat(name, "='", text, "' is no port"));
    }
    *port = static_cast<uint16_t>(number);
    return absl::OkStatus();
  };
  if (listen->host.empty()) listen->host = value("MPSD_HOST");
  absl::Status status = read_port("MPSD_PORT", &listen->port);
  status.Update(read_port("MPSD_HTTP_PORT", &listen->http_port));
  status.Update(read_port("PORT", &listen->http_port));
  listen->plaintext = listen->plaintext || value("MPSD_PLAINTEXT") == "1";
  if (model->device == ModelFlags().device && !value("MPSD_DEVICE").empty()) {
    model->device = value("MPSD_DEVICE");
  }
  return status;
}

absl::Status SetAddresses(const ListenFlags& flags, Config* config) {
  if (flags == ListenFlags{}) return absl::OkStatus();
  std::string host = flags.host.empty() ? "127.0.0.1" : flags.host;
  if (absl::StrContains(host, ':') && host.front() != '[') host = absl::StrCat("[", host, "]");
  const uint16_t port = flags.port.value_or(kDefaultPort);
  const std::string grpc = absl::StrCat(host, ":", port);
  const std::string fault = AddressFault(grpc, /*unix_allowed=*/false);
  if (!fault.empty())
    return absl::InvalidArgumentError(absl::StrCat("--host: '", grpc, "' ", fault));
  if (!flags.plaintext && !IsOnThisHostOnly(grpc)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--host: '", grpc,
        "' can be reached from other hosts, and has no TLS and no rules of "
        "access: add --plaintext where a proxy or a firewall stands before it, or say listen.tls "
        "and access in a config file"));
  }
  if (port != kDefaultPort) absl::StrAppend(&config->state_dir, "-", port);
  config->listen.grpc = AddressesOf(grpc, *config);
  config->listen.plaintext = flags.plaintext;
  if (flags.http_port.has_value()) {
    config->listen.http = {absl::StrCat(host, ":", *flags.http_port)};
  } else {
    for (std::string& http : config->listen.http) http = host + http.substr(http.rfind(':'));
  }
  return absl::OkStatus();
}

}  // namespace mpsd
