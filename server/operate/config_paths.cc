#include "server/operate/config_paths.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "proto/files/whole_file.h"
#include "server/config/command_line_config.h"
#include "server/config/config_values.h"

namespace mpsd {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxConfigBytes = 1 << 20;

// Only if it has the type of `fallback`.
template <typename T>
T Member(const json& object, const char* key, T fallback) {
  if (!object.is_object() || !object.contains(key)) return fallback;
  const json& value = object[key];
  return value.type() == json(fallback).type() ? value.get<T>() : fallback;
}

std::string PathIn(const json& object, const char* key, const std::string& folder) {
  const std::string path = Member(object, key, std::string());
  return path.empty() ? "" : ResolvePath(folder, path);
}

}  // namespace

absl::StatusOr<ConfigPaths> ReadConfigPaths(const std::string& config) {
  ConfigPaths paths;
  paths.config = config.empty() ? FindConfig(kConfigPlaces).value_or("") : config;
  if (paths.config.empty()) return paths;
  const absl::StatusOr<std::string> text = ReadRegularFile(paths.config, kMaxConfigBytes);
  if (!text.ok()) return text.status();
  const json document = json::parse(*text, nullptr, false, true);
  if (document.is_discarded()) {
    return absl::InvalidArgumentError(
        absl::StrCat(paths.config, " is no JSON; `mpsd check` says where"));
  }
  const std::string folder =
      std::filesystem::absolute(paths.config).lexically_normal().parent_path().string();
  const json access = Member(document, "access", json::object());
  paths.state_dir = PathIn(document, "state_dir", folder);
  paths.log = PathIn(Member(document, "log", json::object()), "file", folder);
  paths.tokens = PathIn(access, "tokens", folder);
  for (const json& rule : Member(access, "rules", json::array())) {
    const std::string token = Member(rule, "token", std::string());
    if (!token.empty()) paths.token_rules.push_back(token);
  }
  return paths;
}

}  // namespace mpsd
