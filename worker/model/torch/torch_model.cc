#include "worker/model/torch/torch_model.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "c10/core/InferenceMode.h"
#include "proto/base/check.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/runtime/mps_policy.h"
#include "worker/model/torch/forward_outputs.h"

namespace mpsd {
namespace {

// Share of the device's memory that records leave free, for the largest runs.
constexpr double kFreeShareForRuns = 0.1;

bool IsOfTensors(const ModelSpec& spec) {
  const auto is_string = [](const TensorSpec& tensor) {
    return tensor.datatype == DataType::kBytes;
  };
  return !spec.decoupled && std::none_of(spec.inputs.begin(), spec.inputs.end(), is_string) &&
         std::none_of(spec.outputs.begin(), spec.outputs.end(), is_string);
}

// Ends a recording that was begun, however its scope is left.
class Recording {
 public:
  explicit Recording(GraphRecorder* recorder) : recorder_(recorder) { recorder_->Begin(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { recorder_->Abandon(); }

  std::unique_ptr<RecordedRun> End() { return recorder_->End(); }

 private:
  GraphRecorder* const recorder_;
};

ModelTraits TraitsOf(const TorchRuntime& runtime, const ModelSpec& spec, const Census& census) {
  const c10::Device device = runtime.device();
  ModelTraits traits;
  traits.device = device.str();
  traits.census = census;
  traits.precision = runtime.precision();
  traits.lanes_max =
      LanesAllowed(traits.device, runtime.kind(), census, kMaxLanes, &traits.lanes_reason);
  if (spec.decoupled) {
    traits.lanes_max = 1;
    traits.lanes_reason = "a decoupled model keeps the answers to its requests on one lane";
  }
  traits.input_memory = runtime.input_memory();
  traits.wants_self_check = runtime.options().self_check;
  traits.needs_self_check = NeedsCheck(traits.device, runtime.kind());
  traits.wants_row_buckets =
      Wanted(runtime.options().row_buckets, device.is_mps()) && spec.batches() && IsOfTensors(spec);
  // On mps device memory is the host's. On cuda the host's pressure says nothing about it, and
  // giving it back waits for all lanes.
  traits.gives_memory_back = device.is_mps();
  return traits;
}

}  // namespace

TorchModel::TorchModel(const ModelSpec& spec, const Census& census,
                       std::unique_ptr<TorchRuntime> runtime)
    : Model(spec, TraitsOf(*runtime, spec, census)), runtime_(std::move(runtime)) {}

void TorchModel::OfferWeights(std::vector<c10::Storage> storages) {
  DeviceMemorySource* const source = runtime_->memory_source();
  if (source == nullptr || storages.empty()) return;
  weights_.emplace(std::move(storages), runtime_->device(), source);
}

RunRecorder* TorchModel::recorder() {
  return runtime_->records_runs() && can_compute() && IsOfTensors(spec()) ? this : nullptr;
}

absl::Status TorchModel::OnLane(uint32_t lane, absl::FunctionRef<absl::Status()> forward) const {
  const TorchRuntime::Turn turn(runtime_.get());
  const absl::Status status = CatchForeign([&] {
    const c10::InferenceMode inference_mode;
    return forward();
  });
  // After a failure too: copies that have begun still access the slabs and the lease.
  const absl::Status finished = runtime_->Finish(lane);
  return ModelFailure(finished.ok() ? status : finished);
}

absl::Status TorchModel::Run(uint32_t lane, absl::Span<const InputTensor> inputs,
                             uint32_t row_count, OutputSink* sink) {
  return OnLane(lane, [&] {
    if (inputs.size() != spec().inputs.size()) return absl::InternalError("an input is missing");
    const absl::StatusOr<bool> replayed = Replay(lane, inputs, row_count, sink);
    if (!replayed.ok()) return replayed.status();
    return *replayed ? absl::OkStatus() : Forward(inputs, row_count, sink);
  });
}

// Rows that the batch does not fill keep old numbers; nobody looks at their outputs. False: no
// record answers the batch.
absl::StatusOr<bool> TorchModel::Replay(uint32_t lane, absl::Span<const InputTensor> inputs,
                                        uint32_t row_count, OutputSink* sink) const {
  const RecordedRuns& runs = records_[lane].runs;
  if (runs.size() == 0) return false;
  const RecordPlace place = PlaceOf(inputs, row_count);
  const RecordedBatch* const record = place.size > 0 ? runs.Find(place) : nullptr;
  if (record == nullptr || record->rows < row_count) return false;
  const absl::StatusOr<bool> filled = FillRecord(inputs, *record);
  if (!filled.ok() || !*filled) return filled;
  record->run->Replay();
  for (size_t i = 0; i < record->outputs.size(); ++i) {
    const at::Tensor& output = record->outputs[i];
    absl::Status status = Emit(spec().batches() ? output.narrow(0, 0, row_count) : output,
                               spec().outputs[i], row_count, sink);
    if (!status.ok()) return status;
  }
  return true;
}

RecordPlace TorchModel::PlaceOf(absl::Span<const InputTensor> inputs, uint32_t row_count) const {
  return PlaceByShapes(inputs, row_count);
}

absl::StatusOr<RecordedBatch> TorchModel::BeginRecord(absl::Span<const InputTensor> inputs,
                                                      uint32_t row_count) const {
  RecordedBatch record;
  record.rows = row_count;
  for (const InputTensor& input : inputs) {
    absl::StatusOr<at::Tensor> tensor = runtime_->Borrow(input, /*may_be_written=*/true);
    if (!tensor.ok()) return tensor.status();
    record.inputs.push_back(*std::move(tensor));
  }
  return record;
}

absl::StatusOr<bool> TorchModel::FillRecord(absl::Span<const InputTensor> inputs,
                                            const RecordedBatch& record) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    absl::Status status = runtime_->CopyIn(inputs[i], record.inputs[i]);
    if (!status.ok()) return status;
  }
  return true;
}

absl::Status TorchModel::Record(uint32_t lane, absl::Span<const InputTensor> inputs,
                                uint32_t row_count) {
  MPSD_CHECK(lane < kMaxLanes && recorder() != nullptr);
  const std::optional<double> free = FreeMemoryShare(runtime_->device());
  if (free.has_value() && *free < kFreeShareForRuns) {
    return absl::FailedPreconditionError("too little of the device's memory is free");
  }
  const TorchRuntime::Turn turn(runtime_.get());
  const absl::Status status = CatchForeign([&] { return RecordInside(lane, inputs, row_count); });
  // An action that is forbidden during recording looks like a lost device. This wait tells them
  // apart.
  const absl::Status finished = runtime_->Finish(lane);
  if (!finished.ok() || status.ok()) return finished;
  return absl::FailedPreconditionError(status.message());
}

absl::Status TorchModel::RecordInside(uint32_t lane, absl::Span<const InputTensor> inputs,
                                      uint32_t row_count) {
  const c10::InferenceMode inference_mode;
  LaneRecords& records = records_[lane];
  if (records.recorder == nullptr) records.recorder = NewCudaRecorder();
  const RecordPlace place = PlaceOf(inputs, row_count);
  if (place.size == 0) return absl::FailedPreconditionError("such a batch is not replayed");
  absl::StatusOr<RecordedBatch> record = BeginRecord(inputs, row_count);
  if (!record.ok()) return record.status();
  Recording recording(records.recorder.get());
  absl::StatusOr<std::vector<at::Tensor>> outputs = Compute(record->inputs, record->rows);
  if (!outputs.ok()) return outputs.status();
  for (const at::Tensor& output : *outputs) record->outputs.push_back(output.contiguous());
  record->run = recording.End();
  if (absl::Status status = CheckRecorded(*record); !status.ok()) return status;
  records.runs.Add(place, *std::move(record));
  return absl::OkStatus();
}

absl::Status TorchModel::CheckRecorded(const RecordedBatch& batch) const {
  if (batch.outputs.size() != spec().outputs.size())
    return absl::InternalError("outputs are missing");
  for (size_t i = 0; i < batch.outputs.size(); ++i) {
    absl::Status status =
        CheckOutput(batch.outputs[i], spec().outputs[i], spec().batches(), batch.rows);
    if (!status.ok()) return status;
    if (batch.outputs[i].device() != runtime_->device()) {
      return absl::InternalError(
          absl::StrCat("output '", spec().outputs[i].name, "' is not on the device"));
    }
  }
  return absl::OkStatus();
}

void TorchModel::SetPrice(uint32_t lane, absl::Span<const InputTensor> inputs,
                          const RunPrice& price) {
  records_[lane].runs.SetPrice(PlaceOf(inputs, price.rows), price.replayed_ns, price.plain_ns);
}

void TorchModel::Drop(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count) {
  records_[lane].runs.Remove(PlaceOf(inputs, row_count));
}

// The next lane with this number has another stream.
void TorchModel::ReleaseLane(uint32_t lane) {
  records_[lane].runs = RecordedRuns();
  records_[lane].recorder.reset();
  runtime_->ReleaseLane(lane);
}

absl::Status TorchModel::Emit(const at::Tensor& tensor, const TensorSpec& output,
                              uint32_t row_count, OutputSink* sink) const {
  absl::Status status = CheckOutput(tensor, output, spec().batches(), row_count);
  if (!status.ok()) return status;
  const c10::IntArrayRef sizes = tensor.sizes();
  void* target = sink->Add(output.datatype, absl::MakeSpan(sizes.data(), sizes.size()));
  if (target != nullptr) runtime_->CopyOut(tensor, target);
  return absl::OkStatus();
}

absl::Status CheckModelFile(const LoadOrder& order) {
  struct stat info {};
  const bool is_found = stat(order.file().c_str(), &info) == 0;
  if (is_found ? !S_ISREG(info.st_mode) : errno != EACCES) {
    return absl::NotFoundError(
        absl::StrCat("model '", order.model, "': there is no file '", order.path, "'"));
  }
  if (is_found && std::ifstream(order.file()).good()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("model '", order.model, "': its file cannot be read: '", order.path, "'"));
}

absl::Status CannotLoad(const LoadOrder& order, absl::string_view why) {
  const bool is_unread = absl::StrContains(why, "errno") || absl::StrContains(why, "file failed");
  const std::string text = absl::StrCat(
      "model '", order.model, "': cannot load '", order.path, "': ",
      is_unread ? "its file cannot be read"
                : absl::StrReplaceAll(why, {{absl::string_view(order.file()), "the file"}}));
  if (is_unread) return absl::PermissionDeniedError(text);
  const absl::Status kind = ExecuteFailure(why);
  return absl::IsInternal(kind) ? absl::InvalidArgumentError(text)
                                : absl::Status(kind.code(), text);
}

}  // namespace mpsd
