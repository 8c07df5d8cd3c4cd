#include "server/config/config_warnings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/limits.h"
#include "proto/base/shape.h"

namespace mpsd {
namespace {

// Models that switch their own sandbox off.
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

// Bytes of one row of all tensors with a known shape.
uint64_t KnownRowBytes(const std::vector<TensorSpec>& tensors) {
  uint64_t bytes = 0;
  for (const TensorSpec& tensor : tensors) {
    bytes += TensorBytes(tensor.datatype, tensor.dims).value_or(0);
  }
  return bytes;
}

// Warns of requests with too many rows to be sent or answered.
void AddRowWarnings(const Config& config, std::vector<std::string>* warnings) {
  const auto add = [&](const ModelConfig& model, uint64_t row_bytes, uint64_t limit_bytes,
                       const char* limit) {
    if (row_bytes == 0 || limit_bytes / row_bytes >= model.max_request_rows) return;
    warnings->push_back(absl::StrCat("models[].max_request_rows of ", model.name, " is ",
                                     model.max_request_rows, ", but ", limit, " holds ",
                                     limit_bytes / row_bytes, " of its rows"));
  };
  for (const ModelConfig& model : config.models) {
    const uint64_t output_bytes = KnownRowBytes(model.spec.outputs);
    const uint64_t most_bytes = std::max(KnownRowBytes(model.spec.inputs), output_bytes);
    add(model, most_bytes, config.limits.message_bytes, "limits.message");
    add(model, output_bytes, config.limits.step_tensor_bytes, "limits.step_tensors");
  }
}

}  // namespace

std::vector<std::string> ConfigWarnings(const Config& config) {
  std::vector<std::string> warnings;
  AddSandboxWarning(config, &warnings);
  AddRowWarnings(config, &warnings);
  if (config.listen.plaintext) {
    warnings.push_back(
        config.access.in_force
            ? "listen.plaintext: tokens may cross a network in the clear"
            : "listen.plaintext without access: whoever reaches the address may call");
  }
  if (config.limits.connection_pin_bytes != kDefaultConnectionPinBytes) {
    warnings.emplace_back("limits.connection_pinned has no effect: answers are copied");
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
