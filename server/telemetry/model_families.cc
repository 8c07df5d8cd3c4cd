#include "server/telemetry/model_families.h"

#include <string>
#include <utility>

#include "server/telemetry/metric_family.h"

namespace mpsd {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct ModelCounter {
  const char* name;
  const char* help;
  std::atomic<uint64_t> ModelMetrics::*value;
};

constexpr ModelCounter kModelCounters[] = {
    {"mpsd_batches_total", "Batches that ended.", &ModelMetrics::batches},
    {"mpsd_gathered_batches_total", "Batches of several row runs, which a lane had to gather.",
     &ModelMetrics::gathered_batches},
    {"mpsd_skipped_batches_total", "Batches that no lane ran, since no live row was left.",
     &ModelMetrics::skipped_batches},
    {"mpsd_dispatched_again_total", "Requests dispatched again, since their worker died.",
     &ModelMetrics::dispatched_again},
    {"mpsd_quarantined_requests_total",
     "Requests ended unseen by a worker, since one that held the same had crashed its worker.",
     &ModelMetrics::quarantined_requests},
    {"mpsd_timeout_wakeups_total", "Wake-ups that came by time-out. Each of them is a bug.",
     &ModelMetrics::timeout_wakeups},
    {"mpsd_copied_replies_total", "Large replies copied, since too much output was pinned.",
     &ModelMetrics::copied_replies},
    {"mpsd_worker_restarts_total", "Workers started again after a death.",
     &ModelMetrics::worker_restarts},
    {"mpsd_worker_recycles_total", "Workers replaced for their memory, requests or age.",
     &ModelMetrics::worker_recycles},
    {"mpsd_worker_lines_dropped_total", "Lines that workers wrote beyond the rate limit.",
     &ModelMetrics::worker_lines_dropped},
    {"mpsd_worker_send_errors_total", "Control messages that could not be sent to a living worker.",
     &ModelMetrics::worker_send_errors},
    {"mpsd_worker_lane_demotions_total",
     "Workers that run fewer lanes than they were told, as their runtime or the self-check asked.",
     &ModelMetrics::lane_demotions},
};

struct ModelGauge {
  const char* name;
  const char* help;
  std::atomic<int64_t> ModelMetrics::*value;
};

constexpr ModelGauge kModelGauges[] = {
    {"mpsd_queue_requests", "Requests admitted and not yet in a batch.",
     &ModelMetrics::queued_requests},
    {"mpsd_queue_bytes", "Input bytes of the requests in the queue.", &ModelMetrics::queued_bytes},
    {"mpsd_running_batches", "Batches that workers hold.", &ModelMetrics::running_batches},
    {"mpsd_workers_configured", "Workers that should serve.", &ModelMetrics::workers_configured},
    {"mpsd_workers_ready", "Workers that do serve.", &ModelMetrics::workers_ready},
    {"mpsd_circuit_open", "1 while a model rests, for its workers' deaths or their device.",
     &ModelMetrics::circuit_open},
    {"mpsd_input_slabs_leased", "Input slabs in use.", &ModelMetrics::input_slabs_leased},
    {"mpsd_slab_segment_bytes", "Shared memory that requests' rows may lie in.",
     &ModelMetrics::slab_segment_bytes},
    {"mpsd_output_leases", "Output slabs in use, by batches or by replies that are not read yet.",
     &ModelMetrics::output_leases},
    {"mpsd_pinned_output_bytes", "Bytes of the output slabs that unfinished replies point into.",
     &ModelMetrics::pinned_output_bytes},
};

struct Stage {
  const char* label;
  StageHistogram ModelMetrics::*histogram;
};

constexpr Stage kStages[] = {{"queue", &ModelMetrics::queue},
                             {"dispatch", &ModelMetrics::dispatch},
                             {"execute", &ModelMetrics::execute},
                             {"respond", &ModelMetrics::respond}};

MetricLabels ModelLabels(const ModelMetrics& model) {
  return {{"model", model.model}, {"version", model.version}};
}

MetricLabels ModelLabels(const ModelMetrics& model, const char* name, std::string value) {
  MetricLabels labels = ModelLabels(model);
  labels.push_back({name, std::move(value)});
  return labels;
}

// The count is the sum of the buckets that were read, so that both agree even if a request ends
// during the scrape. The serializer adds the bucket of +Inf.
template <size_t kBounds>
ClientMetric HistogramMetric(const std::array<double, kBounds>& bounds,
                             const typename AtomicHistogram<kBounds>::Snapshot& snapshot,
                             MetricLabels labels) {
  ClientMetric metric;
  metric.label = std::move(labels);
  uint64_t cumulative = 0;
  for (size_t i = 0; i < kBounds; ++i) {
    cumulative += snapshot.counts[i];
    metric.histogram.bucket.push_back({cumulative, bounds[i]});
  }
  metric.histogram.sample_count = cumulative + snapshot.counts[kBounds];
  metric.histogram.sample_sum = snapshot.sum;
  return metric;
}

MetricFamily RequestsFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family = Family("mpsd_requests_total", "Requests that ended, by gRPC status code.",
                               MetricType::Counter);
  for (const ModelMetrics* model : models) {
    for (size_t code = 0; code < kStatusCodes; ++code) {
      const double value = ToDouble(model->requests_by_code[code]);
      if (code != 0 && value == 0) continue;
      family.metric.push_back(CounterMetric(value, ModelLabels(*model, "code", CodeName(code))));
    }
  }
  return family;
}

MetricFamily ExitsFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family =
      Family("mpsd_worker_exits_total", "Workers that ended, by reason.", MetricType::Counter);
  for (const ModelMetrics* model : models) {
    for (size_t exit = 0; exit < kWorkerExits; ++exit) {
      const double value = ToDouble(model->worker_exits[exit]);
      family.metric.push_back(
          CounterMetric(value, ModelLabels(*model, "reason", kWorkerExitNames[exit])));
    }
  }
  return family;
}

MetricFamily StagesFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family = Family("mpsd_stage_seconds", "Time that a request spent in each stage.",
                               MetricType::Histogram);
  for (const ModelMetrics* model : models) {
    for (const Stage& stage : kStages) {
      const StageHistogram& histogram = model->*stage.histogram;
      family.metric.push_back(HistogramMetric(histogram.bounds(), histogram.ReadSeconds(),
                                              ModelLabels(*model, "stage", stage.label)));
    }
  }
  return family;
}

MetricFamily BatchRowsFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family = Family("mpsd_batch_rows", "Rows of each batch.", MetricType::Histogram);
  for (const ModelMetrics* model : models) {
    const BatchHistogram& histogram = model->batch_rows;
    family.metric.push_back(
        HistogramMetric(histogram.bounds(), histogram.ReadRows(), ModelLabels(*model)));
  }
  return family;
}

}  // namespace

std::vector<MetricFamily> ModelFamilies(absl::Span<const ModelMetrics* const> models) {
  std::vector<MetricFamily> families;
  if (models.empty()) return families;
  families.push_back(RequestsFamily(models));
  families.push_back(ExitsFamily(models));
  families.push_back(StagesFamily(models));
  families.push_back(BatchRowsFamily(models));
  for (const ModelCounter& counter : kModelCounters) {
    MetricFamily& family =
        families.emplace_back(Family(counter.name, counter.help, MetricType::Counter));
    for (const ModelMetrics* model : models) {
      family.metric.push_back(CounterMetric(ToDouble(model->*counter.value), ModelLabels(*model)));
    }
  }
  for (const ModelGauge& gauge : kModelGauges) {
    MetricFamily& family = families.emplace_back(Family(gauge.name, gauge.help, MetricType::Gauge));
    for (const ModelMetrics* model : models) {
      family.metric.push_back(GaugeMetric(ToDouble(model->*gauge.value), ModelLabels(*model)));
    }
  }
  return families;
}

}  // namespace mpsd
