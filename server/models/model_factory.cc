#include "server/models/model_factory.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"
#include "proto/files/file_stamp.h"
#include "proto/files/kept_folder.h"
#include "proto/link/messages.h"
#include "server/cache/model_cache.h"
#include "server/compose/parts/parted_queue.h"
#include "server/compose/sequences/sequence_plan.h"
#include "server/compose/sequences/sequence_queue.h"
#include "server/models/host_survey.h"
#include "server/models/step_factory.h"
#include "server/pool/batch/slab_sizing.h"
#include "server/pool/pool.h"
#include "server/pool/schedule/pinned_scheduler.h"
#include "server/texts/text_encoder.h"

namespace mpsd {
namespace {

const char* PlatformName(ModelFormat format) {
  switch (format) {
    case ModelFormat::kTorchScript:
      return "pytorch_libtorch";
    case ModelFormat::kAoti:
      return "torch_aoti";
    case ModelFormat::kHuggingFace:
      return "huggingface";
    case ModelFormat::kSynthetic:
      return "synthetic";
  }
  return "";
}

Placement PlacementOf(const ModelConfig& model, absl::Span<const ModelConfig> others,
                      HostSurvey* survey) {
  std::vector<ModelConfig> models = {model};
  for (const ModelConfig& other : others) {
    if (!other.has_steps()) models.push_back(other);
  }
  const std::vector<Placement> placements = DecidePlacements(models, survey->FactsFor(models));
  MPSD_CHECK(placements.size() == models.size());
  return placements.front();
}

ModelFacts FactsOf(const ModelConfig& model, const Placement& placement) {
  ModelFacts facts;
  facts.backend = model.format == ModelFormat::kSynthetic ? "synthetic" : "pytorch";
  facts.devices.clear();
  for (const DeviceShare& share : placement.processes) facts.devices.push_back(share.device);
  facts.device_note = placement.device_note;
  facts.lanes = placement.lanes;
  facts.max_delay_ns = model.batching.max_delay_ns;
  facts.preferred_sizes = model.batching.preferred_sizes;
  facts.max_request_rows = model.max_request_rows;
  facts.max_batch_tokens = model.max_batch_tokens;
  facts.queue = model.queue;
  facts.input_formats = model.input_formats;
  facts.label_files = model.label_files;
  facts.task = model.spec.task;
  facts.default_for = model.default_for;
  facts.response_cache = model.response_cache;
  facts.lane_needs = model.lane_needs;
  facts.sequences = model.sequences;
  return facts;
}

// Null keeps the pool's own value. Triton's schedulers have this for tests that need all requests
// in one queue.
uint32_t HeldRequests() {
  const char* const value = std::getenv("TRITONSERVER_DELAY_SCHEDULER");
  uint32_t requests = 0;
  return value != nullptr && absl::SimpleAtoi(value, &requests) ? requests : 0;
}

std::shared_ptr<const Scheduler> SchedulerOf(const ModelConfig& model, const PoolOptions& options) {
  if (!model.sequences.has_value()) return nullptr;
  return std::make_shared<PinnedScheduler>(options.lane_depth, options.max_delay_ns,
                                           options.preferred_rows);
}

// Keeps the files open for workers; none if a worker could not open them that way.
void KeepFiles(const ModelConfig& model, SupervisedModel* supervised) {
  if (model.format == ModelFormat::kHuggingFace) {
    KeptFolder folder = KeepFolder(model.path, model.stamp);
    supervised->order.folder_files = std::move(folder.files);
    supervised->files = std::move(folder.descriptors);
    return;
  }
  UniqueFd file = OpenAsStamped(model.path, model.stamp);
  if (!file.valid() || platform::PathOfOpenFile(file.get()).empty()) return;
  supervised->files.push_back(std::move(file));
}

// A model with texts would be ready, and refuse each text.
absl::Status TextsFault(const ServedModel& model) {
  const absl::Status& status = model.texts.status();
  if (status.ok() || absl::IsUnimplemented(status)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("its tokenizer cannot be used: ", status.message()));
}

LoadOrder OrderOf(const ModelConfig& model, const Placement& placement) {
  LoadOrder order;
  order.model = model.name;
  order.format = model.format;
  order.path = model.path;
  order.stamp = model.stamp;
  order.precision = model.precision;
  order.warmup = model.warmup;
  order.warmup_samples = model.warmup_samples;
  order.keep_warm_ns = model.keep_warm_ns;
  order.sandbox = model.sandbox.value_or(SandboxLevel::kBasic);
  order.lanes = placement.lanes;
  order.threads = placement.threads;
  order.cores = placement.cores;
  order.spec = model.spec;
  order.inputs_by_name = model.inputs_by_name;
  order.parameters = model.parameters;
  return order;
}

}  // namespace

std::unique_ptr<RequestQueue> ModelFactory::QueueOf(const ModelConfig& model,
                                                    const ServedModel* served,
                                                    std::unique_ptr<Pool> pool) const {
  if (model.sequences.has_value()) {
    Pool* const watched = pool.get();
    auto queue = std::make_unique<SequenceQueue>(served, std::move(pool), model.queue_bytes,
                                                 parts_.sequences, HeldRequests());
    watched->Watch(queue.get());
    return queue;
  }
  if (model.max_request_rows == 0) return pool;
  return std::make_unique<PartedQueue>(std::move(pool), &parts_.steps->copies);
}

std::shared_ptr<ServedModel> ModelFactory::Start(const ModelConfig& model,
                                                 absl::Span<const ModelConfig> others,
                                                 std::shared_ptr<ModelMetrics> counters) {
  if (model.has_steps()) {
    auto whole = MakeStepModel(model, std::move(counters), parts_.steps);
    parts_.page->AddModel(whole->shared_metrics);
    return whole;
  }
  auto served = std::make_shared<ServedModel>(std::move(counters));
  served->name = model.name;
  served->version = model.version;
  served->platform = PlatformName(model.format);
  served->parameters = model.parameters;
  served->labels = model.labels;
  if (!model.text.tokenizer.empty()) served->texts = TextEncoder::Load(model.text);
  if (model.response_cache != CacheScope::kOff) {
    served->cache =
        std::make_unique<ModelCache>(parts_.answers, model.response_cache, parts_.clock);
  }
  const Placement placement = PlacementOf(model, others, parts_.survey);
  served->facts = FactsOf(model, placement);
  served->facts.answer_bytes_max = parts_.message_bytes;
  PoolOptions options;
  // A batch that waits in a lane would hold what others could use.
  options.lane_depth = model.lane_needs.empty() ? placement.lane_depth : 1;
  options.lane_needs = model.lane_needs;
  options.resources = parts_.resources;
  options.max_delay_ns = model.batching.max_delay_ns;
  options.preferred_rows = model.batching.preferred_sizes;
  options.queue_target_ns = model.queue_target_ns;
  options.slo_ns = model.slo_ns;
  options.queue_requests.clear();
  for (const QueuePolicy& level : model.queue.levels) {
    options.queue_requests.push_back(level.requests);
  }
  options.queue_bytes = model.queue_bytes;
  // A sequence has one request at a time in the pool.
  options.held_requests = model.sequences.has_value() ? 0 : HeldRequests();
  options.max_answer_bytes = parts_.message_bytes;
  options.scheduler = SchedulerOf(model, options);
  auto pool = std::make_unique<Pool>(served.get(), options, parts_.clock, parts_.replies,
                                     parts_.supervisor);

  SupervisedModel supervised;
  supervised.served = served;
  supervised.pool = pool.get();
  supervised.order = OrderOf(model, placement);
  KeepFiles(model, &supervised);
  served->facts.kept_files = static_cast<uint32_t>(supervised.files.size());
  supervised.processes = placement.processes;
  supervised.first_segment_bytes =
      [bounds = ArrivalBounds{model.queue.requests(), model.queue_bytes, parts_.message_bytes,
                              platform::PageBytes()}](const ModelSpec& spec) {
        return SlabSegmentBytes(spec, bounds);
      };
  supervised.spec_fault = [sequences = model.sequences,
                           texts = TextsFault(*served)](const ModelSpec& spec) {
    if (!texts.ok() || !sequences.has_value()) return texts;
    return SequencePlan::Of(*sequences, spec).status();
  };
  supervised.limits = model.supervision;
  served->pool = pool.get();
  served->queue = QueueOf(model, served.get(), std::move(pool));
  parts_.page->AddModel(served->shared_metrics);
  parts_.supervisor->Add(std::move(supervised));
  return served;
}

absl::Status ModelFactory::WaitUntilServing(const ServedModel& model,
                                            const std::function<bool()>& give_up) {
  // Known while its workers still load.
  if (absl::Status status = TextsFault(model); !status.ok()) return status;
  if (model.members == nullptr) return parts_.supervisor->WaitUntilServing(model, give_up);
  const auto fault = [this](const ServedModel& member) { return Fault(member); };
  return WaitForMembers(model, *parts_.steps->models, fault, give_up);
}

absl::Status ModelFactory::Fault(const ServedModel& model) const {
  if (model.members == nullptr) return parts_.supervisor->Fault(model);
  return model.members->Check(MemberNeed::kReady);
}

void ModelFactory::Retire(const std::shared_ptr<ServedModel>& model) {
  if (model->members == nullptr) return parts_.supervisor->Retire(model);
  model->queue->Close();
}

}  // namespace mpsd
