#include "server/config/config.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "proto/link/json_object.h"
#include "server/config/config_reader.h"
#include "server/config/json_lines.h"
#include "server/config/listen_config_reader.h"
#include "server/config/model_config_reader.h"

namespace mpsd {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr uint32_t kDefaultMaxBatchSize = 64;

// Keeps where a text stops being JSON; the parser that builds a document does not tell without
// throwing.
class SyntaxErrorFinder : public nlohmann::json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    position_ = position;
    what_ = error.what();
    return false;
  }

  // The parser's words without its own account of the place, which the line before them gives.
  std::string What() const {
    for (const absl::string_view lead :
         {"syntax error while parsing ", "number overflow parsing "}) {
      const size_t found = what_.find(std::string(lead));
      if (found == std::string::npos) continue;
      return absl::StrCat("is not JSON: ", absl::string_view(what_).substr(found));
    }
    return absl::StrCat("is not JSON: ", what_);
  }

  size_t LineIn(std::string_view text) const {
    // The position is that after the last character that was read.
    const size_t end = std::min(text.size(), position_ == 0 ? 0 : position_ - 1);
    return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + end, '\n'));
  }

 private:
  size_t position_ = 0;
  std::string what_;
};

absl::Status SyntaxError(std::string_view text, const std::string& file) {
  SyntaxErrorFinder finder;
  nlohmann::json::sax_parse(text, &finder, nlohmann::json::input_format_t::json,
                            /*strict=*/true, /*ignore_comments=*/true);
  return absl::InvalidArgumentError(
      absl::StrCat(file, ":", finder.LineIn(text), ": ", finder.What()));
}

// The errors in the order of their lines, each as "FILE:LINE: PATH: what".
absl::Status ErrorsAt(const JsonErrors& errors, const JsonLines& lines, const std::string& file) {
  std::vector<std::pair<size_t, std::string>> placed;
  for (const JsonError& error : errors.errors()) {
    const size_t line = lines.LineOf(error.path);
    placed.emplace_back(line, absl::StrCat(file, ":", line, ": ", error.path,
                                           error.path.empty() ? "" : ": ", error.what));
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = absl::StrJoin(
      placed, "\n", [](std::string* out, const auto& error) { out->append(error.second); });
  if (errors.left_out() > 0) absl::StrAppend(&text, "\nand ", errors.left_out(), " more");
  return absl::InvalidArgumentError(text);
}

absl::StatusOr<std::string> AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (!error) return absolute.lexically_normal().string();
  return absl::InternalError(absl::StrCat("'", path, "' has no place: ", error.message()));
}

// A name that clients may use, made of a file's.
std::string NameOfFile(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  for (char& c : name) {
    if (!ServableNameFault(std::string("x") + c).empty()) c = '-';
  }
  const auto is_alnum = [](unsigned char c) { return absl::ascii_isalnum(c); };
  name.erase(name.begin(), std::find_if(name.begin(), name.end(), is_alnum));
  if (name.size() > kMaxNameBytes) name.resize(kMaxNameBytes);
  return name.empty() ? "model" : name;
}

// Turns the whole shapes of a command line into those of a spec, where a batch dim does not stand.
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
  // Reading the JSON form back holds the inputs to every rule that a config's are held to.
  return ModelSpecFromJson(ToJson(*spec)).status();
}

Config ConfigWhereNothingIsSaid() {
  Config config;
  config.state_dir = DefaultStateDir();
  config.listen.grpc = DefaultGrpcAddresses(config.state_dir);
  // There is no config in which another could be named.
  if (!AddressFault(config.listen.grpc.back(), /*unix_allowed=*/true).empty()) {
    config.listen.grpc.pop_back();
  }
  return config;
}

}  // namespace

absl::StatusOr<Config> ParseConfig(std::string_view text, const std::string& file) {
  const absl::StatusOr<std::string> path = AbsolutePath(file);
  if (!path.ok()) return path.status();
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false,
                                                    /*ignore_comments=*/true);
  if (json.is_discarded()) return SyntaxError(text, file);
  const JsonLines lines(text);
  JsonErrors errors;
  for (const JsonLines::Repeated& repeated : lines.repeated()) {
    errors.Add(repeated.path, absl::StrCat("stands again on line ", repeated.line));
  }
  Config config;
  const std::string folder = std::filesystem::path(*path).parent_path().string();
  ReadConfigDocument(json, folder, &errors, &config);
  if (!errors.empty()) return ErrorsAt(errors, lines, file);
  return config;
}

absl::StatusOr<Config> ReadConfig(const std::string& file) {
  const std::string fault = FileFault(file);
  if (!fault.empty()) return absl::NotFoundError(absl::StrCat("config: ", fault));
  std::ifstream stream(file, std::ios::binary);
  std::string text(kMaxConfigBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  if (!stream.eof() && text.size() <= kMaxConfigBytes) {
    return absl::PermissionDeniedError(absl::StrCat("config: '", file, "' cannot be read"));
  }
  if (text.size() > kMaxConfigBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":1: is larger than ", kMaxConfigBytes, " bytes"));
  }
  return ParseConfig(text, file);
}

absl::StatusOr<Config> ConfigFromModelFile(const std::string& model_file,
                                           std::vector<TensorSpec> inputs,
                                           uint32_t max_batch_size) {
  const std::string fault = FileFault(model_file);
  if (!fault.empty()) return absl::NotFoundError(fault);
  const std::optional<ModelFormat> format = FormatOfFile(model_file);
  if (!format.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", model_file, "' ends in neither .pt nor .pt2"));
  }
  absl::StatusOr<std::string> path = AbsolutePath(model_file);
  if (!path.ok()) return path.status();
  ModelConfig model;
  model.name = NameOfFile(*path);
  model.path = *std::move(path);
  model.stamp = StampOf(model.path);
  model.format = *format;
  const absl::Status status = SetInputs(std::move(inputs), max_batch_size, &model.spec);
  if (!status.ok()) return status;
  Config config = ConfigWhereNothingIsSaid();
  config.models.push_back(std::move(model));
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

std::vector<std::string> DefaultGrpcAddresses(const std::string& state_dir) {
  return {"127.0.0.1:8001", absl::StrCat("unix:", state_dir, "/mpsd.sock")};
}

std::string DefaultStateDir() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return absl::StrCat(runtime, "/mpsd");
  return absl::StrCat("/tmp/mpsd-", getuid());
}

}  // namespace mpsd
