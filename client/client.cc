#include "client/client.h"

#include <grpcpp/grpcpp.h>

#include <optional>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/async_infer.h"
#include "client/connect_fault.h"
#include "client/credentials.h"
#include "client/stubs.h"
#include "client/this_host.h"
#include "client/wire.h"

namespace mpsd::client {
namespace {

constexpr int kMaxReplyBytes = 1 << 30;
// A call on a failed channel ends at once; this is for a channel that connects after all.
constexpr absl::Duration kFaultWait = absl::Seconds(1);

// The address has a port.
bool IsLocal(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) return true;
  absl::string_view host = address.substr(0, address.rfind(':'));
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  return StaysOnThisHost(host);
}

grpc::ChannelArguments ChannelArguments() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(kMaxReplyBytes);
  return arguments;
}

// A call on a failed channel fails at once, with gRPC's words.
std::string FaultOf(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kFaultWait));
  inference::ServerLiveResponse response;
  return inference::GRPCInferenceService::Stub(channel)
      .ServerLive(&context, inference::ServerLiveRequest(), &response)
      .error_message();
}

// Waits until the channel is connected or has failed, or until `deadline`. The error is
// Connect()'s.
absl::Status WaitConnected(const std::shared_ptr<grpc::Channel>& channel,
                           const std::string& address, bool tls, absl::Time deadline) {
  const auto until = absl::ToChronoTime(deadline);
  for (auto state = channel->GetState(true); state != GRPC_CHANNEL_READY;
       state = channel->GetState(true)) {
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN) {
      return absl::UnavailableError(ConnectFaultText(address, tls, FaultOf(channel)));
    }
    if (!channel->WaitForStateChange(state, until)) {
      return absl::UnavailableError(
          absl::StrCat("the server at ", address, " did not answer before the deadline"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

Client::Client(std::unique_ptr<Stubs> stubs, const RetryOptions& retry)
    : stubs_(std::move(stubs)), retry_(retry) {}

Client::~Client() { stubs_->WaitForCalls(); }

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const std::string& address,
                                                        absl::Time deadline,
                                                        const ConnectOptions& options) {
  if (const std::string fault = AddressFault(address); !fault.empty()) {
    return absl::InvalidArgumentError(fault);
  }
  if (!options.token.empty() && !options.tls && !IsLocal(address)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a token is not sent to ", address, " without TLS"));
  }
  const std::shared_ptr<grpc::Channel> channel =
      grpc::CreateCustomChannel(address, ChannelCredentials(options), ChannelArguments());
  const absl::Status connected = WaitConnected(channel, address, options.tls, deadline);
  if (!connected.ok()) return connected;
  return std::unique_ptr<Client>(
      new Client(std::make_unique<Stubs>(channel, options.token), options.retry));
}

absl::StatusOr<bool> Client::ServerReady(absl::Time deadline) {
  inference::ServerReadyResponse response;
  const absl::Status status =
      stubs_->Call(&stubs_->inference_stub, &inference::GRPCInferenceService::Stub::ServerReady,
                   deadline, inference::ServerReadyRequest(), &response);
  if (!status.ok()) return status;
  return response.ready();
}

absl::StatusOr<ModelMetadata> Client::GetModelMetadata(const std::string& model,
                                                       const std::string& version,
                                                       absl::Time deadline) {
  inference::ModelMetadataRequest request;
  request.set_name(model);
  request.set_version(version);
  inference::ModelMetadataResponse response;
  const absl::Status status =
      stubs_->Call(&stubs_->inference_stub, &inference::GRPCInferenceService::Stub::ModelMetadata,
                   deadline, request, &response);
  if (!status.ok()) return status;
  return FromWire(response);
}

absl::StatusOr<std::vector<ListedModel>> Client::ListModels(absl::Time deadline) {
  inference::RepositoryIndexResponse response;
  const absl::Status status =
      stubs_->Call(&stubs_->inference_stub, &inference::GRPCInferenceService::Stub::RepositoryIndex,
                   deadline, inference::RepositoryIndexRequest(), &response);
  if (!status.ok()) return status;
  std::vector<ListedModel> models;
  for (const auto& model : response.models()) {
    models.push_back({model.name(), model.version(), model.state(), model.reason()});
  }
  return models;
}

absl::StatusOr<ModelRuns> Client::GetModelRuns(const std::string& model, absl::Time deadline) {
  inference::ModelStatisticsRequest request;
  request.set_name(model);
  inference::ModelStatisticsResponse response;
  const absl::Status status =
      stubs_->Call(&stubs_->inference_stub, &inference::GRPCInferenceService::Stub::ModelStatistics,
                   deadline, request, &response);
  if (!status.ok()) return status;
  ModelRuns runs;
  for (const auto& version : response.model_stats()) {
    runs.rows += version.inference_count();
    runs.batches += version.execution_count();
  }
  return runs;
}

absl::StatusOr<InferReply> Client::Infer(const InferRequest& request, absl::Time deadline) {
  const absl::StatusOr<inference::ModelInferRequest> wire = ToWire(request);
  if (!wire.ok()) return wire.status();
  absl::BitGen dice;
  for (uint32_t attempt = 1;; ++attempt) {
    grpc::ClientContext context;
    stubs_->Prepare(deadline, &context);
    inference::ModelInferResponse response;
    const grpc::Status status = stubs_->inference_stub.ModelInfer(&context, *wire, &response);
    if (status.ok()) return FromWire(std::move(response));
    const std::optional<absl::Duration> delay =
        RetryDelay(retry_, Failed(status, attempt, deadline), absl::Uniform(dice, 0.0, 1.0));
    if (!delay.has_value()) return ToAbsl(status);
    absl::SleepFor(*delay);
  }
}

void Client::InferAsync(const InferRequest& request, absl::Time deadline, InferDone done) {
  absl::StatusOr<inference::ModelInferRequest> wire = ToWire(request);
  if (!wire.ok()) return done(wire.status());
  AsyncInfer::Start(stubs_.get(), *std::move(wire), retry_, deadline, std::move(done));
}

std::future<absl::StatusOr<InferReply>> Client::InferFuture(const InferRequest& request,
                                                            absl::Time deadline) {
  auto promise = std::make_shared<std::promise<absl::StatusOr<InferReply>>>();
  std::future<absl::StatusOr<InferReply>> future = promise->get_future();
  InferAsync(request, deadline,
             [promise](absl::StatusOr<InferReply> reply) { promise->set_value(std::move(reply)); });
  return future;
}

absl::Status Client::RegisterRegion(const std::string& name, const std::string& key, uint64_t bytes,
                                    absl::Time deadline) {
  inference::SystemSharedMemoryRegisterRequest request;
  request.set_name(name);
  request.set_key(key);
  request.set_byte_size(bytes);
  inference::SystemSharedMemoryRegisterResponse response;
  return stubs_->Call(&stubs_->inference_stub,
                      &inference::GRPCInferenceService::Stub::SystemSharedMemoryRegister, deadline,
                      request, &response);
}

absl::Status Client::UnregisterRegion(const std::string& name, absl::Time deadline) {
  inference::SystemSharedMemoryUnregisterRequest request;
  request.set_name(name);
  inference::SystemSharedMemoryUnregisterResponse response;
  return stubs_->Call(&stubs_->inference_stub,
                      &inference::GRPCInferenceService::Stub::SystemSharedMemoryUnregister,
                      deadline, request, &response);
}

absl::Status Client::RegisterDeviceRegion(const std::string& name, const std::string& handle,
                                          int64_t device, uint64_t bytes, absl::Time deadline) {
  inference::CudaSharedMemoryRegisterRequest request;
  request.set_name(name);
  request.set_raw_handle(handle);
  request.set_device_id(device);
  request.set_byte_size(bytes);
  inference::CudaSharedMemoryRegisterResponse response;
  return stubs_->Call(&stubs_->inference_stub,
                      &inference::GRPCInferenceService::Stub::CudaSharedMemoryRegister, deadline,
                      request, &response);
}

absl::Status Client::UnregisterDeviceRegion(const std::string& name, absl::Time deadline) {
  inference::CudaSharedMemoryUnregisterRequest request;
  request.set_name(name);
  inference::CudaSharedMemoryUnregisterResponse response;
  return stubs_->Call(&stubs_->inference_stub,
                      &inference::GRPCInferenceService::Stub::CudaSharedMemoryUnregister, deadline,
                      request, &response);
}

absl::StatusOr<DaemonStatus> Client::GetDaemonStatus(absl::Time deadline) {
  control::v1::StatusReply reply;
  const absl::Status status =
      stubs_->Call(&stubs_->control_stub, &control::v1::Control::Stub::Status, deadline,
                   control::v1::StatusRequest(), &reply);
  if (!status.ok()) return status;
  return FromWire(reply);
}

absl::StatusOr<uint32_t> Client::ForgiveContents(const std::string& model, absl::Time deadline) {
  control::v1::ForgiveRequest request;
  request.set_model_name(model);
  control::v1::ForgiveReply reply;
  const absl::Status status = stubs_->Call(
      &stubs_->control_stub, &control::v1::Control::Stub::Forgive, deadline, request, &reply);
  if (!status.ok()) return status;
  return reply.contents();
}

}  // namespace mpsd::client
