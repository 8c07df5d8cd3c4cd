#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "server/access/token_file.h"
#include "server/config/config_reader.h"
#include "server/config/config_values.h"

namespace mpsd {
namespace {

constexpr std::array<std::string_view, 4> kAccessKeys = {"tokens", "open", "rules", "tenants"};
constexpr std::array<std::string_view, 6> kRuleKeys = {"token",  "certificate", "roles",
                                                       "models", "rate",        "burst"};
constexpr std::array<std::string_view, 3> kTenantsKeys = {"header", "named", "others"};
constexpr std::array<std::string_view, 3> kNamedTenantKeys = {"name", "rate", "burst"};
constexpr std::array<std::string_view, 2> kOtherTenantsKeys = {"rate", "burst"};
constexpr size_t kMaxCertificateNameBytes = 256;
constexpr size_t kMaxTenantNameBytes = 256;
constexpr size_t kMaxHeaderBytes = 64;

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

RowRate ReadRate(const JsonObject& object) {
  RowRate rate;
  object.Get("rate", 1, kMaxRowRate, &rate.rows_per_second);
  rate.burst_rows = rate.rows_per_second;
  object.Get("burst", 1, kMaxRowRate, &rate.burst_rows);
  if (object.Find("burst") != nullptr && object.Find("rate") == nullptr) {
    object.Fail("burst", "is of a 'rate', which is missing");
  }
  return rate;
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
  rule.rate = ReadRate(object);
  if (object.Find("rate") != nullptr && !rule.roles.Meets(kModelInferAccess.roles)) {
    object.Fail("rate", "is of requests, for which the rule lacks the role 'infer'");
  }
  return rule;
}

// Excludes headers that carry credentials.
bool IsTenantHeader(std::string_view name) {
  const auto is_good = [](char c) {
    return absl::ascii_islower(static_cast<unsigned char>(c)) ||
           absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= kMaxHeaderBytes &&
         std::all_of(name.begin(), name.end(), is_good) && !name.ends_with("-bin") &&
         name != "authorization" && name != "x-api-key";
}

NamedTenant ReadNamedTenant(const nlohmann::json& json, const std::string& path,
                            const std::vector<NamedTenant>& known, JsonErrors* errors) {
  const JsonObject object(json, path, kNamedTenantKeys, errors);
  NamedTenant tenant;
  object.Require("name");
  object.Get("name", &tenant.name);
  const auto is_it = [&tenant](const NamedTenant& other) { return other.name == tenant.name; };
  const bool fits = !tenant.name.empty() && tenant.name.size() <= kMaxTenantNameBytes;
  if (object.Find("name") != nullptr && !fits) {
    object.Fail("name", absl::StrCat("must have 1 to ", kMaxTenantNameBytes, " bytes"));
  } else if (fits && std::any_of(known.begin(), known.end(), is_it)) {
    object.Fail("name", absl::StrCat("'", tenant.name, "' is there already"));
  }
  tenant.rate = ReadRate(object);
  return tenant;
}

TenantRules ReadTenants(const nlohmann::json& json, const std::string& path, JsonErrors* errors) {
  const JsonObject object(json, path, kTenantsKeys, errors);
  TenantRules tenants;
  object.Require("header");
  object.Get("header", &tenants.header);
  if (!IsTenantHeader(tenants.header)) {
    object.Fail("header", absl::StrCat("must be the name of a header: 1 to ", kMaxHeaderBytes,
                                       " of a-z, 0-9, '-' and '_', and none of credentials"));
  }
  object.GetList("named", kMaxNamedTenants,
                 [&](const nlohmann::json& element, const std::string& where) {
                   tenants.named.push_back(ReadNamedTenant(element, where, tenants.named, errors));
                 });
  if (const nlohmann::json* others = object.Find("others"); others != nullptr) {
    tenants.others =
        ReadRate(JsonObject(*others, JsonPath(path, "others"), kOtherTenantsKeys, errors));
  }
  return tenants;
}

// A rate belongs to a tenant: to one credential alone, or to a name.
void CheckRates(const AccessRules& access, JsonErrors* errors) {
  std::vector<std::pair<std::string_view, std::string_view>> tenants;
  std::vector<bool> has_rate;
  for (size_t i = 0; i < access.rules.size(); ++i) {
    const AccessRule& rule = access.rules[i];
    if (!rule.roles.Meets(kModelInferAccess.roles)) continue;
    const std::pair<std::string_view, std::string_view> tenant = {rule.token, rule.certificate};
    const auto found = std::find(tenants.begin(), tenants.end(), tenant);
    const auto number = static_cast<size_t>(found - tenants.begin());
    if (found == tenants.end()) {
      tenants.push_back(tenant);
      has_rate.push_back(false);
    }
    if (rule.rate.rows_per_second == 0) continue;
    const std::string path = JsonPath(JsonPath("access.rules", i), "rate");
    if (has_rate[number]) {
      errors->Add(path, "an earlier rule has the rate of this credential");
    } else if (number >= kMaxNamedTenants) {
      errors->Add(path, absl::StrCat("only the first ", kMaxNamedTenants,
                                     " credentials with the role 'infer' can have a rate"));
    }
    has_rate[number] = true;
  }
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
  // Invalid addresses were reported already.
  if (!AddressFault(address, /*unix_allowed=*/true).empty()) return;
  if (listen.plaintext || IsOnThisHostOnly(address)) return;
  errors->Add(path, absl::StrCat("'", address,
                                 "' can be reached from other hosts, and has no TLS: listen on "
                                 "127.0.0.1, or by listen.tls, or say \"plaintext\": true where a "
                                 "proxy or a firewall stands before it"));
}

// Callers here must be known, unless a rule allows unknown callers.
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

absl::Span<const std::string_view> AccessKeys() { return kAccessKeys; }

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
  if (const nlohmann::json* tenants = object.Find("tenants"); tenants != nullptr) {
    access->tenants = ReadTenants(*tenants, JsonPath("access", "tenants"), errors);
  }
  CheckRates(*access, errors);
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
