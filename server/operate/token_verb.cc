#include "server/operate/token_verb.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/access/token_edit.h"
#include "server/access/token_file.h"
#include "server/operate/config_paths.h"

namespace mpsd {
namespace {

using nlohmann::ordered_json;

constexpr char kReload[] = "`systemctl reload mpsd`, or SIGHUP, has the daemon read it";
constexpr size_t kShownHexDigits = 12;

std::string HexOf(const Sha256Digest& digest) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

// A path may have any bytes.
std::string LineOf(const ordered_json& report) {
  return report.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

bool HasRule(const ConfigPaths& paths, const std::string& name) {
  return std::find(paths.token_rules.begin(), paths.token_rules.end(), name) !=
         paths.token_rules.end();
}

absl::Status Create(const TokenOptions& options, const ConfigPaths& paths, std::ostream& out,
                    std::ostream& err) {
  const absl::StatusOr<std::string> token = NewToken();
  if (!token.ok()) return token.status();
  const absl::Status edited = EditTokenFile(
      paths.tokens, [&](absl::string_view text) { return WithToken(text, options.name, *token); });
  if (!edited.ok()) return edited;
  if (options.json) {
    const ordered_json report = {{"name", options.name}, {"token", *token}, {"file", paths.tokens}};
    out << LineOf(report);
  } else {
    out << *token << "\n";
  }
  err << "mpsd: '" << options.name << "' is in " << paths.tokens
      << "; the token is shown this once\n";
  if (!HasRule(paths, options.name)) {
    err << "mpsd: it may do nothing yet; add to access.rules {\"token\": \"" << options.name
        << "\", \"roles\": [\"infer\"]}\n";
  }
  err << "mpsd: " << kReload << "\n";
  return absl::OkStatus();
}

absl::Status List(const TokenOptions& options, const ConfigPaths& paths, std::ostream& out) {
  const absl::StatusOr<std::vector<AccessToken>> tokens = ReadTokenFile(paths.tokens);
  if (!tokens.ok()) return tokens.status();
  ordered_json report = ordered_json::array();
  for (const AccessToken& token : *tokens) {
    const std::string hex = HexOf(token.digest);
    report.push_back({{"name", token.name}, {"sha256", hex}});
    if (!options.json) out << token.name << "  " << hex.substr(0, kShownHexDigits) << "…\n";
  }
  if (options.json) out << LineOf(report);
  return absl::OkStatus();
}

absl::Status Revoke(const TokenOptions& options, const ConfigPaths& paths, std::ostream& out,
                    std::ostream& err) {
  const absl::Status edited = EditTokenFile(
      paths.tokens, [&](absl::string_view text) { return WithoutToken(text, options.name); });
  if (!edited.ok()) return edited;
  if (options.json) {
    const ordered_json report = {{"name", options.name}, {"file", paths.tokens}};
    out << LineOf(report);
  } else {
    err << "mpsd: '" << options.name << "' is no more in " << paths.tokens << "\n";
  }
  // A reload with a rule for a missing token changes nothing.
  if (HasRule(paths, options.name)) {
    err << "mpsd: access.rules of " << paths.config << " still names '" << options.name
        << "': remove that rule first, or the token stays valid after a reload\n";
  }
  err << "mpsd: the token is valid until then: " << kReload << "\n";
  return absl::OkStatus();
}

}  // namespace

absl::Status RunToken(const TokenOptions& options, std::ostream& out, std::ostream& err) {
  const bool is_list = options.action == "list";
  if (is_list != options.name.empty()) {
    return absl::InvalidArgumentError(
        is_list ? "token list takes no name"
                : absl::StrCat("token ", options.action, " needs the name of the token"));
  }
  absl::StatusOr<ConfigPaths> paths = ReadConfigPaths(options.config);
  if (!paths.ok() && (options.file.empty() || !options.config.empty())) return paths.status();
  ConfigPaths place = paths.ok() ? *std::move(paths) : ConfigPaths{};
  if (!options.file.empty()) place.tokens = options.file;
  if (place.tokens.empty()) {
    return absl::NotFoundError(
        "no config names a file of tokens: say --file FILE, and write "
        "access.tokens into the config");
  }
  if (options.action == "create") return Create(options, place, out, err);
  if (is_list) return List(options, place, out);
  return Revoke(options, place, out, err);
}

}  // namespace mpsd
