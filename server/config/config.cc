#include "server/config/config.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "proto/base/check.h"
#include "proto/base/lasting_folder.h"
#include "proto/link/json_object.h"
#include "server/config/config_reader.h"
#include "server/config/config_values.h"
#include "server/config/json_lines.h"
#include "server/config/tokenizer_stamp.h"

namespace mpsd {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;

// All errors by line: "FILE:LINE: PATH: what".
absl::Status ErrorsAt(const JsonErrors& errors, const JsonLines& lines, const std::string& file) {
  MPSD_CHECK(!errors.empty());
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

}  // namespace

absl::StatusOr<Config> ParseConfig(std::string_view text, const std::string& file) {
  const absl::StatusOr<std::string> path = AbsolutePath(file);
  if (!path.ok()) return path.status();
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false,
                                                    /*ignore_comments=*/true);
  if (json.is_discarded())
    return absl::InvalidArgumentError(absl::StrCat(file, ":", JsonSyntaxError(text)));
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
    return absl::PermissionDeniedError(
        absl::StrCat("config: '", file, "' cannot be read: ", std::strerror(errno)));
  }
  if (text.size() > kMaxConfigBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":1: is larger than ", kMaxConfigBytes, " bytes"));
  }
  return ParseConfig(text, file);
}

void SetHubFolder(const std::string& folder, ModelConfig* model) {
  model->path = folder;
  model->stamp = StampOf(folder);
  std::string& tokenizer = model->text.tokenizer;
  if (tokenizer.empty()) tokenizer = TokenizerIn(folder);
  if (!tokenizer.empty()) model->tokenizer_stamp = StampOfTokenizer(tokenizer);
}

std::vector<std::string> DefaultGrpcAddresses(const std::string& state_dir) {
  return {"127.0.0.1:8001", absl::StrCat("unix:", state_dir, "/mpsd.sock")};
}

std::string StateDirOf(const char* runtime, const std::string& lasting, uint32_t user) {
  if (runtime != nullptr && runtime[0] == '/') return absl::StrCat(runtime, "/mpsd");
  return lasting.empty() ? absl::StrCat("/tmp/mpsd-", user) : absl::StrCat(lasting, "/mpsd");
}

std::string DefaultStateDir() {
  return StateDirOf(std::getenv("XDG_RUNTIME_DIR"), platform::LastingFolder(), getuid());
}

}  // namespace mpsd
