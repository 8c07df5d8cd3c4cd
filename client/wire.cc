#include "client/wire.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/output_check.h"

namespace mpsd::client {
namespace {

using Parameters = google::protobuf::Map<std::string, inference::InferParameter>;

void SetRange(const RegionRange& range, Parameters* parameters) {
  (*parameters)["shared_memory_region"].set_string_param(range.region);
  (*parameters)["shared_memory_byte_size"].set_int64_param(static_cast<int64_t>(range.bytes));
  if (range.offset == 0) return;
  (*parameters)["shared_memory_offset"].set_int64_param(static_cast<int64_t>(range.offset));
}

// 0 if there is no such parameter.
uint64_t NumberOf(const char* name, const Parameters& parameters) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? 0 : static_cast<uint64_t>(found->second.int64_param());
}

RegionRange RangeFromWire(const Parameters& parameters) {
  const auto region = parameters.find("shared_memory_region");
  if (region == parameters.end()) return {};
  return {region->second.string_param(), NumberOf("shared_memory_offset", parameters),
          NumberOf("shared_memory_byte_size", parameters)};
}

absl::StatusOr<InferOutput> OutputFromWire(
    const inference::ModelInferResponse::InferOutputTensor& tensor, std::string&& bytes) {
  InferOutput output{tensor.name(), ParseDataType(tensor.datatype()),
                     Dims(tensor.shape().begin(), tensor.shape().end()), std::move(bytes),
                     RangeFromWire(tensor.parameters())};
  if (absl::Status status = CheckOutput(output, tensor.datatype()); !status.ok()) return status;
  return output;
}

std::vector<TensorMetadata> TensorsFromWire(
    const google::protobuf::RepeatedPtrField<inference::ModelMetadataResponse::TensorMetadata>&
        tensors) {
  std::vector<TensorMetadata> list;
  for (const auto& tensor : tensors) {
    list.push_back({tensor.name(), ParseDataType(tensor.datatype()),
                    Dims(tensor.shape().begin(), tensor.shape().end())});
  }
  return list;
}

WorkerStatus WorkerFromWire(const control::v1::WorkerStatus& wire) {
  WorkerStatus worker;
  worker.index = wire.index();
  worker.pid = wire.pid();
  worker.epoch = wire.epoch();
  worker.state = wire.state();
  worker.lanes = wire.lanes();
  worker.device = wire.device();
  worker.runtime = wire.runtime();
  worker.runtime_kind = wire.runtime_kind();
  worker.runtime_path = wire.runtime_path();
  worker.driver_guard = wire.driver_guard();
  worker.input_memory = wire.input_memory();
  worker.slowness = std::max(1.0, wire.slowness());  // 0: the daemon does not say
  worker.resident_bytes = wire.resident_bytes();
  worker.restarts = wire.restarts();
  worker.uptime_ms = wire.uptime_ms();
  worker.last_exit = wire.last_exit();
  worker.exit_reason = wire.exit_reason();
  worker.last_lines.assign(wire.last_lines().begin(), wire.last_lines().end());
  if (wire.has_starts_in_ms()) worker.starts_in_ms = wire.starts_in_ms();
  worker.generation = wire.generation();
  return worker;
}

ModelStatus ModelFromWire(const control::v1::ModelStatus& wire) {
  ModelStatus model;
  model.name = wire.name();
  model.version = wire.version();
  model.ready = wire.ready();
  model.state = wire.state();
  model.platform = wire.platform();
  model.device = wire.device();
  model.spec = wire.spec();
  model.queued_requests = wire.queued_requests();
  model.running_batches = wire.running_batches();
  model.max_batch_size = wire.max_batch_size();
  model.lanes = wire.lanes();
  for (const auto& worker : wire.workers()) model.workers.push_back(WorkerFromWire(worker));
  model.device_note = wire.device_note();
  model.precision = wire.precision();
  model.precision_note = wire.precision_note();
  model.circuit = wire.circuit();
  for (const control::v1::RefusedContent& content : wire.refused_contents()) {
    model.refused_contents.push_back({content.fingerprint(), content.age_ms()});
  }
  model.quarantined_requests = wire.quarantined_requests();
  model.warning = wire.warning();
  model.parameters.insert(wire.parameters().begin(), wire.parameters().end());
  return model;
}

}  // namespace

absl::StatusOr<inference::ModelInferRequest> ToWire(const InferRequest& request) {
  inference::ModelInferRequest wire;
  wire.set_model_name(request.model);
  wire.set_model_version(request.version);
  wire.set_id(request.id);
  for (const InferInput& input : request.inputs) {
    if (input.datatype == DataType::kInvalid) {
      return absl::InvalidArgumentError(absl::StrCat("input '", input.name, "' has no datatype"));
    }
    auto* tensor = wire.add_inputs();
    tensor->set_name(input.name);
    tensor->set_datatype(std::string(DataTypeName(input.datatype)));
    tensor->mutable_shape()->Add(input.shape.begin(), input.shape.end());
    if (input.range.region.empty()) {
      wire.add_raw_input_contents(input.bytes.data(), input.bytes.size());
    } else {
      SetRange(input.range, tensor->mutable_parameters());
    }
  }
  for (const std::string& name : request.outputs) {
    auto* output = wire.add_outputs();
    output->set_name(name);
    const auto range = request.output_ranges.find(name);
    if (range != request.output_ranges.end()) {
      SetRange(range->second, output->mutable_parameters());
    }
  }
  return wire;
}

absl::StatusOr<InferReply> FromWire(inference::ModelInferResponse&& response) {
  if (response.outputs_size() != response.raw_output_contents_size()) {
    return absl::InternalError(absl::StrCat("the answer names ", response.outputs_size(),
                                            " outputs and carries ",
                                            response.raw_output_contents_size()));
  }
  InferReply reply{response.model_name(), response.model_version(), response.id(), {}};
  reply.truncated_texts = NumberOf("truncated_texts", response.parameters());
  for (int i = 0; i < response.outputs_size(); ++i) {
    absl::StatusOr<InferOutput> output =
        OutputFromWire(response.outputs(i), std::move(*response.mutable_raw_output_contents(i)));
    if (!output.ok()) return output.status();
    reply.outputs.push_back(*std::move(output));
  }
  return reply;
}

ModelMetadata FromWire(const inference::ModelMetadataResponse& response) {
  return {response.name(),
          {response.versions().begin(), response.versions().end()},
          response.platform(),
          TensorsFromWire(response.inputs()),
          TensorsFromWire(response.outputs())};
}

DaemonStatus FromWire(const control::v1::StatusReply& reply) {
  DaemonStatus status;
  status.server_name = reply.server_name();
  status.server_version = reply.server_version();
  status.start_time_ms = reply.start_time_ms();
  status.ready = reply.ready();
  if (reply.has_last_reload()) {
    status.last_reload = {reply.last_reload().ok(), reply.last_reload().time_ms(),
                          reply.last_reload().text()};
  }
  for (const auto& model : reply.models()) status.models.push_back(ModelFromWire(model));
  return status;
}

}  // namespace mpsd::client
