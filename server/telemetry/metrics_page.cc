#include "server/telemetry/metrics_page.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <sstream>

#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"
#include "proto/base/check.h"
#include "server/telemetry/metric_families.h"
#include "server/telemetry/process_stats.h"
#include "server/telemetry/triton_families.h"

namespace mpsd {
namespace {

double UnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void Append(std::vector<prometheus::MetricFamily> more,
            std::vector<prometheus::MetricFamily>* families) {
  std::move(more.begin(), more.end(), std::back_inserter(*families));
}

}  // namespace

MetricsPage::MetricsPage(const ServerMetrics* server,
                         std::vector<std::pair<std::string, std::string>> build)
    : server_(server), build_(std::move(build)), start_time_seconds_(UnixSeconds()) {}

void MetricsPage::AddTritonNames() {
  absl::MutexLock lock(&mu_);
  triton_names_ = true;
}

void MetricsPage::AddModel(const ModelMetrics* model) {
  absl::MutexLock lock(&mu_);
  for (const ModelMetrics* other : models_) {
    MPSD_CHECK(other->model != model->model || other->version != model->version);
  }
  models_.push_back(model);
}

void MetricsPage::RemoveModel(const ModelMetrics* model) {
  absl::MutexLock lock(&mu_);
  const auto found = std::find(models_.begin(), models_.end(), model);
  MPSD_CHECK(found != models_.end());
  models_.erase(found);
}

std::vector<prometheus::MetricFamily> MetricsPage::Collect() const {
  std::vector<prometheus::ClientMetric::Label> labels;
  for (const auto& [name, value] : build_) labels.push_back({name, value});
  std::vector<prometheus::MetricFamily> families;
  families.push_back(
      InfoFamily("mpsd_build_info", "What this daemon was built from.", std::move(labels)));
  {
    absl::MutexLock lock(&mu_);
    Append(ModelFamilies(models_), &families);
    if (triton_names_) Append(TritonFamilies(models_), &families);
  }
  Append(ServerFamilies(*server_), &families);
  Append(ProcessFamilies(ReadProcessStats(), start_time_seconds_), &families);
  return families;
}

std::string MetricsPage::Text() const {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, Collect());
  return text.str();
}

}  // namespace mpsd
