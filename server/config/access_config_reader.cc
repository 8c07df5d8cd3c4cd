#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "server/access/token_file.h"
#include "server/config/config_reader.h"
#include "server/config/config_values.h"

namespace mpsd {
namespace {

constexpr std::array<std::string_view, 3> kAccessKeys = {"tokens", "open", "rules"};
constexpr std::array<std::string_view, 4> kRuleKeys = {"token", "certificate", "roles", "models"};
constexpr size_t kMaxCertificateNameBytes = 256;

RoleSet ReadRoles(const JsonObject& object, std::string_view key) {
  RoleSet roles;
  object.GetList(key, kRoleNames.size(), [&](const nlohmann::json& json, const std::string& path) {
    if (!json.is_string()) return object.errors()->Add(path, WrongType("the name of a role", json));
    const std::string name = json.get<std::string>();
    const auto* const found = std::find(kRoleNames.begin(), kRoleNames.end(), name);
    if (found == kRoleNames.end()) {
      return object.errors()->Add(path, absl::StrCat(JsonText(json), " is no role",
                                                     DidYouMean(name, kRoleNames, "they are")));
    }
    roles = roles | static_cast<Role>(found - kRoleNames.begin());
  });
  return roles;
}

void ReadRuleModels(const JsonObject& object, AccessRule* rule) {
  const auto add = [&](const nlohmann::json& json, const std::string& path) {
    if (!json.is_string()) return object.errors()->Add(path, WrongType("a model's name", json));
    rule->models.push_back(json.get<std::string>());
    const std::string fault = ServableNameFault(rule->models.back());
    if (!fault.empty()) object.errors()->Add(path, fault);
  };
  object.GetList("models", kMaxRuleModels, add);
  const nlohmann::json* models = object.Find("models");
  if (models != nullptr && models->is_array() && models->empty()) {
    object.Fail("models", "must hold at least one model; leave it out for all of them");
  }
}

AccessRule ReadRule(const nlohmann::json& json, const std::string& path,
                    const std::vector<AccessToken>& tokens, JsonErrors* errors) {
  const JsonObject object(json, path, kRuleKeys, errors);
  AccessRule rule;
  object.Get("token", &rule.token);
  object.Get("certificate", &rule.certificate);
  if (rule.token.empty() == rule.certificate.empty()) {
    errors->Add(path, "must name either a token or a certificate");
  }
  const auto is_it = [&rule](const AccessToken& token) { return token.name == rule.token; };
  if (!rule.token.empty() && std::none_of(tokens.begin(), tokens.end(), is_it)) {
    object.Fail("token", absl::StrCat("the file of tokens has no '", rule.token, "'"));
  }
  if (rule.certificate.size() > kMaxCertificateNameBytes) {
    object.Fail("certificate",
                absl::StrCat("must have at most ", kMaxCertificateNameBytes, " bytes"));
  }
  object.Require("roles");
  rule.roles = ReadRoles(object, "roles");
  const nlohmann::json* roles = object.Find("roles");
  if (roles != nullptr && roles->is_array() && roles->empty()) {
    object.Fail("roles", "must hold at least one role");
  }
  ReadRuleModels(object, &rule);
  return rule;
}

void ReadTokens(const JsonObject& object, const std::string& folder, AccessRules* access) {
  std::string path;
  object.Get("tokens", &path);
  if (object.Find("tokens") == nullptr) return;
  absl::StatusOr<std::vector<AccessToken>> tokens = ReadTokenFile(ResolvePath(folder, path));
  if (!tokens.ok()) return object.Fail("tokens", std::string(tokens.status().message()));
  access->tokens = *std::move(tokens);
}

void CheckPlain(const std::string& address, const std::string& path, const ListenConfig& listen,
                JsonErrors* errors) {
  // A text that is no address was reported already.
  if (!AddressFault(address, /*unix_allowed=*/true).empty()) return;
  if (listen.plaintext || IsOnThisHostOnly(address)) return;
  errors->Add(path, absl::StrCat("'", address,
                                 "' can be reached from other hosts, and has no TLS: listen on "
                                 "127.0.0.1, or by listen.tls, or say \"plaintext\": true where a "
                                 "proxy or a firewall stands before it"));
}

// Who reaches these addresses must be known, or allowed something without being known.
void CheckKnown(const std::vector<std::string>& addresses, const std::string& path,
                const Config& config, JsonErrors* errors) {
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (config.access.in_force || IsOnThisHostOnly(addresses[i])) continue;
    errors->Add(JsonPath(path, i),
                absl::StrCat("'", addresses[i],
                             "' can be reached from other hosts, and nothing says who may do what "
                             "there: say it in access, were it only \"open\": [\"infer\"]"));
  }
}

}  // namespace

void ReadAccessConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      AccessRules* access) {
  const JsonObject object(json, "access", kAccessKeys, errors);
  access->in_force = true;
  ReadTokens(object, folder, access);
  access->open = ReadRoles(object, "open");
  object.GetList("rules", kMaxAccessRules,
                 [&](const nlohmann::json& element, const std::string& path) {
                   access->rules.push_back(ReadRule(element, path, access->tokens, errors));
                 });
}

void CheckWhoGetsIn(const Config& config, JsonErrors* errors) {
  const ListenConfig& listen = config.listen;
  for (size_t i = 0; i < listen.grpc.size(); ++i) {
    CheckPlain(listen.grpc[i], JsonPath("listen.grpc", i), listen, errors);
  }
  for (size_t i = 0; i < listen.http.size(); ++i) {
    const bool is_text = listen.http.size() == 1;
    CheckPlain(listen.http[i], is_text ? "listen.http" : JsonPath("listen.http", i), listen,
               errors);
  }
  CheckKnown(listen.tls.grpc, "listen.tls.grpc", config, errors);
  CheckKnown(listen.tls.http, "listen.tls.http", config, errors);
  for (size_t i = 0; i < config.access.rules.size(); ++i) {
    if (config.access.rules[i].certificate.empty() || !listen.tls.client_ca.empty()) continue;
    errors->Add(JsonPath(JsonPath("access.rules", i), "certificate"),
                "no client is asked for a certificate: listen.tls.client_ca is missing");
  }
}

}  // namespace mpsd
