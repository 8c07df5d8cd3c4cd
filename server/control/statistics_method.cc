#include "server/control/statistics_method.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/inference.pb.h"
#include "server/request/find_served.h"
#include "server/telemetry/answer_statistics.h"
#include "server/telemetry/inference_statistics.h"

namespace mpsd {
namespace {

namespace pb = inference;

void Describe(const CountAndTime& source, pb::StatisticDuration* target) {
  target->set_count(source.count);
  target->set_ns(source.ns);
}

void Describe(const InferenceStatistics::Totals& totals, pb::ModelStatistics* target) {
  target->set_last_inference(static_cast<uint64_t>(totals.last_inference_ms));
  target->set_inference_count(totals.inference_count);
  target->set_execution_count(totals.execution_count);
  pb::InferStatistics* infer = target->mutable_inference_stats();
  Describe(totals.success, infer->mutable_success());
  Describe(totals.fail, infer->mutable_fail());
  Describe(totals.queue, infer->mutable_queue());
  Describe(totals.compute_input, infer->mutable_compute_input());
  Describe(totals.compute_infer, infer->mutable_compute_infer());
  Describe(totals.compute_output, infer->mutable_compute_output());
  // There is no response cache, but clients that print a breakdown expect these fields.
  Describe(CountAndTime(), infer->mutable_cache_hit());
  Describe(CountAndTime(), infer->mutable_cache_miss());
  for (size_t rows = 0; rows < totals.by_batch_size.size(); ++rows) {
    const InferenceStatistics::BatchSize& size = totals.by_batch_size[rows];
    if (size.compute_infer.count == 0) continue;
    pb::InferBatchStatistics* batch = target->add_batch_stats();
    batch->set_batch_size(rows);
    Describe(size.compute_input, batch->mutable_compute_input());
    Describe(size.compute_infer, batch->mutable_compute_infer());
    Describe(size.compute_output, batch->mutable_compute_output());
  }
}

void Describe(const std::vector<AnswerStatistics::Index>& answers, pb::ModelStatistics* target) {
  for (size_t i = 0; i < answers.size(); ++i) {
    const AnswerStatistics::Index& index = answers[i];
    pb::InferResponseStatistics& response = (*target->mutable_response_stats())[absl::StrCat(i)];
    Describe(index.compute_infer, response.mutable_compute_infer());
    Describe(index.compute_output, response.mutable_compute_output());
    Describe(index.sent, response.mutable_success());
    Describe(index.failed, response.mutable_fail());
    Describe(index.no_more, response.mutable_empty_response());
    Describe(index.cancelled, response.mutable_cancel());
  }
}

void Describe(const ServedModel& model, const WorkerStatusSource& workers,
              pb::ModelStatistics* target) {
  target->set_name(model.name);
  target->set_version(model.version);
  Describe(model.metrics.inference.Read(), target);
  Describe(model.metrics.answers.Read(), target);
  uint64_t resident_bytes = 0;
  for (const WorkerInfo& worker : workers.Workers(model)) {
    resident_bytes += worker.resident_bytes;
  }
  if (resident_bytes == 0) return;
  pb::MemoryUsage* usage = target->add_memory_usage();
  usage->set_type("CPU");
  usage->set_byte_size(resident_bytes);
}

}  // namespace

void AddStatisticsMethod(const ModelDirectory* models, const WorkerStatusSource* workers,
                         MethodTable* table) {
  table->AddTyped<pb::ModelStatisticsRequest, pb::ModelStatisticsResponse>(
      InferenceMethodName("ModelStatistics"), MethodTable::Kind::kUnary,
      [=](const CallerInfo&, const auto& request, auto* response) {
        if (!request.name().empty()) {
          const absl::Status found =
              FindServed(*models, request.name(), request.version()).status();
          if (!found.ok()) return found;
        }
        const auto wanted = [](const std::string& asked, const std::string& have) {
          return asked.empty() || asked == have;
        };
        for (const std::shared_ptr<ServedModel>& model : models->models()) {
          if (!wanted(request.name(), model->name)) continue;
          if (!wanted(request.version(), model->version)) continue;
          Describe(*model, *workers, response->add_model_stats());
        }
        return absl::OkStatus();
      });
}

}  // namespace mpsd
