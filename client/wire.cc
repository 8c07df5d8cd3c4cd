#include "client/wire.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace mpsd::client {
namespace {

absl::StatusOr<InferOutput> OutputFromWire(
    const inference::ModelInferResponse::InferOutputTensor& tensor, std::string&& bytes) {
  InferOutput output{tensor.name(), ParseDataType(tensor.datatype()),
                     Dims(tensor.shape().begin(), tensor.shape().end()), std::move(bytes)};
  if (output.datatype == DataType::kInvalid) {
    return absl::InternalError(absl::StrCat("the answer's output '", output.name,
                                            "' is of unknown datatype '", tensor.datatype(), "'"));
  }
  if (output.datatype == DataType::kBytes) return output;
  const std::optional<uint64_t> expected = TensorBytes(output.datatype, output.shape);
  if (!expected.has_value() || *expected != output.bytes.size()) {
    return absl::InternalError(absl::StrCat("the answer's output '", output.name, "' is ",
                                            tensor.datatype(), ShapeText(output.shape), " in ",
                                            output.bytes.size(), " bytes"));
  }
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
  model.circuit = wire.circuit();
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
    wire.add_raw_input_contents(input.bytes.data(), input.bytes.size());
  }
  for (const std::string& output : request.outputs) wire.add_outputs()->set_name(output);
  return wire;
}

absl::StatusOr<InferReply> FromWire(inference::ModelInferResponse&& response) {
  if (response.outputs_size() != response.raw_output_contents_size()) {
    return absl::InternalError(absl::StrCat("the answer names ", response.outputs_size(),
                                            " outputs and carries ",
                                            response.raw_output_contents_size()));
  }
  InferReply reply{response.model_name(), response.model_version(), response.id(), {}};
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
