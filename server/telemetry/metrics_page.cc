#include "server/telemetry/metrics_page.h"

#include <chrono>
#include <iterator>
#include <sstream>

#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"
#include "proto/base/check.h"
#include "server/telemetry/metric_families.h"
#include "server/telemetry/open_metrics.h"
#include "server/telemetry/process_stats.h"

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

void MetricsPage::AddLimit(std::string name, double value) {
  limits_.emplace_back(std::move(name), value);
}

void MetricsPage::AddTritonNames() { triton_names_ = true; }

void MetricsPage::AddModel(const std::shared_ptr<const ModelMetrics>& model) {
  for (const std::shared_ptr<const ModelMetrics>& other : Models()) {
    if (other == model) return;
    MPSD_CHECK(other->model != model->model || other->version != model->version);
  }
  absl::MutexLock lock(&mu_);
  models_.push_back(model);
}

std::vector<std::shared_ptr<const ModelMetrics>> MetricsPage::Models() const {
  std::vector<std::shared_ptr<const ModelMetrics>> models;
  absl::MutexLock lock(&mu_);
  std::erase_if(models_, [](const auto& model) { return model.expired(); });
  for (const std::weak_ptr<const ModelMetrics>& model : models_) {
    if (std::shared_ptr<const ModelMetrics> owned = model.lock())
      models.push_back(std::move(owned));
  }
  return models;
}

std::vector<prometheus::MetricFamily> MetricsPage::Collect() const {
  if (refresh_) refresh_();
  std::vector<prometheus::MetricFamily> families;
  families.push_back(BuildFamily(build_));
  const std::vector<std::shared_ptr<const ModelMetrics>> owned = Models();
  std::vector<const ModelMetrics*> models;
  for (const std::shared_ptr<const ModelMetrics>& model : owned) models.push_back(model.get());
  if (states_) {
    const std::vector<ModelStateSample> states = states_();
    families.push_back(StatesFamily(states));
    families.push_back(PrecisionFamily(states));
    families.push_back(TokenBudgetsFamily(states));
    families.push_back(RuntimesFamily(states));
    families.push_back(SlownessFamily(states));
    families.push_back(WorkerMemoryFamily(states));
    if (gpus_ != nullptr) Append(GpuFamilies(gpus_->Samples(), states), &families);
  }
  if (resources_) Append(ResourceFamilies(resources_()), &families);
  if (pulls_) Append(PullFamilies(pulls_()), &families);
  Append(ModelFamilies(models), &families);
  Append(LoadFamilies(models), &families);
  if (triton_names_) Append(TritonFamilies(models), &families);
  Append(ServerFamilies(*server_), &families);
  if (const AccessMetrics* access = access_) Append(AccessFamilies(*access), &families);
  if (!limits_.empty()) families.push_back(LimitsFamily(limits_));
  Append(ProcessFamilies(ReadProcessStats(), start_time_seconds_), &families);
  return families;
}

std::string MetricsPage::Text() const {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, Collect());
  return text.str();
}

std::string MetricsPage::OpenText() const {
  return OpenMetricsText(Text(),
                         exemplars_ == nullptr ? StageExemplars::Series() : exemplars_->Read());
}

}  // namespace mpsd
