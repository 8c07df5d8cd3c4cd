#include "server/config/config_warnings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace mpsd {
namespace {

// The models whose own key switches the sandbox off.
std::vector<std::string> UnconfinedModels(const Config& config) {
  std::vector<std::string> names;
  for (const ModelConfig& model : config.models) {
    if (model.sandbox == SandboxLevel::kOff) names.push_back(model.name);
  }
  return names;
}

void AddSandboxWarning(const Config& config, std::vector<std::string>* warnings) {
  constexpr char kWhat[] = "the sandbox is off: their code may do what the daemon's user may";
  const std::vector<std::string> names = UnconfinedModels(config);
  if (config.sandbox == SandboxLevel::kOff) {
    warnings->push_back(absl::StrCat("sandbox: for models, ", kWhat));
  } else if (!names.empty()) {
    warnings->push_back(absl::StrCat("sandbox: for ", absl::StrJoin(names, ", "), ", ", kWhat));
  }
}

}  // namespace

std::vector<std::string> ConfigWarnings(const Config& config) {
  std::vector<std::string> warnings;
  AddSandboxWarning(config, &warnings);
  if (config.listen.plaintext) {
    warnings.push_back(
        config.access.in_force
            ? "listen.plaintext: tokens may cross a network in the clear"
            : "listen.plaintext without access: whoever reaches the address may call");
  }
  const auto has_rate = [](const AccessRule& rule) { return rule.rate.rows_per_second > 0; };
  const std::vector<AccessRule>& rules = config.access.rules;
  if (!config.access.tenants.header.empty() && std::any_of(rules.begin(), rules.end(), has_rate)) {
    warnings.emplace_back("access.rules[].rate counts for nothing: those of access.tenants count");
  }
  const std::vector<std::string>& sites = config.listen.cors;
  if (!config.access.in_force && std::count(sites.begin(), sites.end(), "*") > 0) {
    warnings.emplace_back("listen.cors \"*\" without access: pages of all sites may call");
  }
  return warnings;
}

}  // namespace mpsd
