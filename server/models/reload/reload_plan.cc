#include "server/models/reload/reload_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/config/limit_keys.h"

namespace mpsd {
namespace {

const ModelConfig* Find(absl::Span<const ModelConfig> models, const ModelKey& key) {
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&key](const ModelConfig& model) { return model.key() == key; });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace

ReloadPlan PlanReload(absl::Span<const ModelConfig> known, absl::Span<const ModelConfig> wanted) {
  ReloadPlan plan;
  for (const ModelConfig& model : wanted) {
    const ModelConfig* before = Find(known, model.key());
    if (before == nullptr) {
      plan.add.push_back(model);
    } else if (*before == model) {
      plan.keep.push_back(model.key());
    } else {
      plan.replace.push_back(model);
    }
  }
  for (const ModelConfig& model : known) {
    if (Find(wanted, model.key()) == nullptr) plan.remove.push_back(model.key());
  }
  return plan;
}

std::vector<std::string> KeysThatNeedARestart(const Config& before, const Config& after) {
  std::vector<std::string> keys;
  const auto compare = [&keys](const char* key, const auto& a, const auto& b) {
    if (a != b) keys.emplace_back(key);
  };
  compare("listen.grpc", before.listen.grpc, after.listen.grpc);
  const TlsConfig& tls = before.listen.tls;
  const TlsConfig& other = after.listen.tls;
  compare("listen.tls.grpc", tls.grpc, other.grpc);
  compare("listen.tls.http", tls.http, other.http);
  compare("listen.tls.certificate", tls.certificate, other.certificate);
  compare("listen.tls.key", tls.key, other.key);
  compare("listen.tls.client_ca", tls.client_ca, other.client_ca);
  compare("listen.tls.client_certificate", tls.client_must_show_certificate,
          other.client_must_show_certificate);
  compare("listen.control", before.listen.control, after.listen.control);
  compare("listen.http", before.listen.http, after.listen.http);
  compare("listen.cors", before.listen.cors, after.listen.cors);
  compare("listen.hosts", before.listen.hosts, after.listen.hosts);
  compare("listen.reflection", before.listen.reflection, after.listen.reflection);
  compare("server_name", before.server_name, after.server_name);
  compare("server_version", before.server_version, after.server_version);
  compare("compat", before.compat, after.compat);
  compare("cuda_mps", before.cuda_mps, after.cuda_mps);
  compare("mps_fallback", before.mps_fallback, after.mps_fallback);
  compare("memory_pressure", before.memory_pressure, after.memory_pressure);
  compare("keep_awake", before.keep_awake, after.keep_awake);
  compare("state_dir", before.state_dir, after.state_dir);
  for (std::string& key : LimitsThatNeedARestart(before.limits, after.limits)) {
    keys.push_back(std::move(key));
  }
  compare("log.file", before.log.file, after.log.file);
  compare("log.requests", before.log.requests, after.log.requests);
  compare("trace.file", before.trace.file, after.trace.file);
  compare("trace.format", before.trace.otlp, after.trace.otlp);
  compare("trace.collector", before.trace.collector, after.trace.collector);
  compare("trace.rate", before.trace.rate, after.trace.rate);
  compare("trace.metrics_interval", before.trace.metrics_interval_ns,
          after.trace.metrics_interval_ns);
  return keys;
}

std::string PlanText(const ReloadPlan& plan) {
  return absl::StrCat(plan.replace.size(), " replaced, ", plan.add.size(), " added, ",
                      plan.remove.size(), " removed, ", plan.keep.size(), " kept");
}

}  // namespace mpsd
