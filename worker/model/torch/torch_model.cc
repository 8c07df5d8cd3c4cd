#include "worker/model/torch/torch_model.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "c10/core/InferenceMode.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torch/forward_outputs.h"
#include "worker/model/torch/mps_policy.h"

namespace mpsd {

TorchModel::TorchModel(ModelSpec spec, const Census& census, std::unique_ptr<TorchRuntime> runtime)
    : spec_(std::move(spec)), census_(census), runtime_(std::move(runtime)) {}

uint32_t TorchModel::LanesAllowed(uint32_t wanted, std::string* why) const {
  if (spec_.decoupled && wanted > 1) {
    *why = "a decoupled model keeps the answers to its requests on one lane";
    return 1;
  }
  return mpsd::LanesAllowed(device(), runtime_->kind(), census_, wanted, why);
}

bool TorchModel::wants_row_buckets() const {
  const auto is_string = [](const TensorSpec& tensor) {
    return tensor.datatype == DataType::kBytes;
  };
  return Wanted(runtime_->options().row_buckets, runtime_->device().is_mps()) && spec_.batches() &&
         !spec_.decoupled && std::none_of(spec_.inputs.begin(), spec_.inputs.end(), is_string) &&
         std::none_of(spec_.outputs.begin(), spec_.outputs.end(), is_string);
}

void TorchModel::RegisterMemory(const void* data, uint64_t bytes) {
  runtime_->RegisterMemory(data, bytes);
}

void TorchModel::UnregisterMemory(const void* data) { runtime_->UnregisterMemory(data); }

absl::Status TorchModel::Run(uint32_t lane, absl::Span<const InputTensor> inputs,
                             uint32_t row_count, OutputSink* sink) {
  const DeviceGate::Permit permit(runtime_->gate());
  const absl::Status status = CatchForeign([&] { return RunInside(inputs, row_count, sink); });
  // Waits after a failure too: copies that have begun still read and write the slabs and the lease.
  const absl::Status finished = runtime_->Finish(lane);
  return ModelFailure(finished.ok() ? status : finished);
}

absl::StatusOr<bool> TorchModel::Answer(uint32_t lane, absl::Span<const InputTensor> inputs,
                                        uint32_t index, OutputSink* sink) {
  const DeviceGate::Permit permit(runtime_->gate());
  bool given = false;
  const absl::Status status = CatchForeign([&] {
    const c10::InferenceMode inference_mode;
    const absl::StatusOr<bool> answered = GiveAnswer(inputs, index, sink);
    given = answered.ok() && *answered;
    return answered.status();
  });
  const absl::Status finished = runtime_->Finish(lane);
  const absl::Status outcome = ModelFailure(finished.ok() ? status : finished);
  if (!outcome.ok()) return outcome;
  return given;
}

absl::Status TorchModel::RunInside(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                   OutputSink* sink) const {
  if (inputs.size() != spec_.inputs.size()) return absl::InternalError("an input is missing");
  const c10::InferenceMode inference_mode;
  return Forward(inputs, row_count, sink);
}

absl::Status TorchModel::Emit(const at::Tensor& tensor, const TensorSpec& output,
                              uint32_t row_count, OutputSink* sink) const {
  absl::Status status = CheckOutput(tensor, output, spec_.batches(), row_count);
  if (!status.ok()) return status;
  const c10::IntArrayRef sizes = tensor.sizes();
  void* target = sink->Add(output.datatype, absl::MakeSpan(sizes.data(), sizes.size()));
  if (target != nullptr) runtime_->CopyOut(tensor, target);
  return absl::OkStatus();
}

absl::Status CheckModelFile(const LoadOrder& order) {
  struct stat info {};
  const bool is_found = stat(order.path.c_str(), &info) == 0;
  if (is_found ? !S_ISREG(info.st_mode) : errno != EACCES) {
    return absl::NotFoundError(
        absl::StrCat("model '", order.model, "': there is no file '", order.path, "'"));
  }
  if (is_found && std::ifstream(order.path).good()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("model '", order.model, "': its file cannot be read: '", order.path, "'"));
}

absl::Status CannotLoad(const LoadOrder& order, absl::string_view why) {
  const bool is_unread = absl::StrContains(why, "errno") || absl::StrContains(why, "file failed");
  const std::string text = absl::StrCat(
      "model '", order.model, "': cannot load '", order.path, "': ",
      is_unread ? "its file cannot be read"
                : absl::StrReplaceAll(why, {{absl::string_view(order.path), "the file"}}));
  if (is_unread) return absl::PermissionDeniedError(text);
  const absl::Status kind = ExecuteFailure(why);
  return absl::IsInternal(kind) ? absl::InvalidArgumentError(text)
                                : absl::Status(kind.code(), text);
}

absl::Status InModel(const LoadOrder& order, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("model '", order.model, "': ", status.message()));
}

}  // namespace mpsd
