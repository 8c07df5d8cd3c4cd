#include "server/telemetry/triton_families.h"

#include <utility>

#include "server/telemetry/inference_statistics.h"

namespace mpsd {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Totals = InferenceStatistics::Totals;

constexpr uint64_t kNsPerMicrosecond = 1000;

struct TritonCounter {
  const char* name;
  const char* help;
  uint64_t (*value)(const Totals& totals);
};

constexpr TritonCounter kCounters[] = {
    {"nv_inference_request_success", "Requests that were answered.",
     [](const Totals& totals) { return totals.success.count; }},
    {"nv_inference_request_failure", "Requests that were admitted and failed.",
     [](const Totals& totals) { return totals.fail.count; }},
    {"nv_inference_count", "Rows that were answered.",
     [](const Totals& totals) { return totals.inference_count; }},
    {"nv_inference_exec_count", "Batches that ran.",
     [](const Totals& totals) { return totals.execution_count; }},
    {"nv_inference_request_duration_us", "Time of the requests that were answered.",
     [](const Totals& totals) { return totals.success.ns / kNsPerMicrosecond; }},
    {"nv_inference_queue_duration_us", "Their time in the queue.",
     [](const Totals& totals) { return totals.queue.ns / kNsPerMicrosecond; }},
    {"nv_inference_compute_input_duration_us", "Their time from the batch to the lane.",
     [](const Totals& totals) { return totals.compute_input.ns / kNsPerMicrosecond; }},
    {"nv_inference_compute_infer_duration_us", "Their time in the lane.",
     [](const Totals& totals) { return totals.compute_infer.ns / kNsPerMicrosecond; }},
    {"nv_inference_compute_output_duration_us", "Their time from the lane to the answer.",
     [](const Totals& totals) { return totals.compute_output.ns / kNsPerMicrosecond; }},
};

ClientMetric Labelled(const ModelMetrics& model) {
  ClientMetric metric;
  metric.label = {{"model", model.model}, {"version", model.version}};
  return metric;
}

MetricFamily PendingFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family;
  family.name = "nv_inference_pending_request_count";
  family.help = "Requests in the queue.";
  family.type = MetricType::Gauge;
  for (const ModelMetrics* model : models) {
    ClientMetric metric = Labelled(*model);
    metric.gauge.value = static_cast<double>(model->queued_requests.load());
    family.metric.push_back(std::move(metric));
  }
  return family;
}

}  // namespace

std::vector<MetricFamily> TritonFamilies(absl::Span<const ModelMetrics* const> models) {
  std::vector<MetricFamily> families;
  if (models.empty()) return families;
  for (const TritonCounter& counter : kCounters) {
    MetricFamily& family = families.emplace_back();
    family.name = counter.name;
    family.help = counter.help;
    family.type = MetricType::Counter;
  }
  for (const ModelMetrics* model : models) {
    const Totals totals = model->inference.Read();
    for (size_t i = 0; i < families.size(); ++i) {
      ClientMetric metric = Labelled(*model);
      metric.counter.value = static_cast<double>(kCounters[i].value(totals));
      families[i].metric.push_back(std::move(metric));
    }
  }
  families.push_back(PendingFamily(models));
  return families;
}

}  // namespace mpsd
