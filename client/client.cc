#include "client/client.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/wire.h"
#include "proto/control.grpc.pb.h"
#include "proto/inference.grpc.pb.h"

namespace mpsd::client {
namespace {

constexpr int kMaxReplyBytes = 1 << 30;

absl::Status ToAbsl(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

// "127.0.0.1:8001", "[::1]:8001", "localhost:8001", "unix:/path": who listens in is on this host.
bool StaysOnThisHost(absl::string_view address) {
  for (const absl::string_view start : {"unix:", "[::1]:", "localhost:"}) {
    if (absl::StartsWith(address, start)) return true;
  }
  // A name may begin with these digits too.
  const absl::string_view host = address.substr(0, address.rfind(':'));
  return absl::StartsWith(host, "127.") &&
         host.find_first_not_of("0123456789.") == absl::string_view::npos;
}

std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const ConnectOptions& options) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({options.tls_ca, options.tls_key, options.tls_certificate});
}

grpc::ChannelArguments ChannelArguments() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(kMaxReplyBytes);
  return arguments;
}

// Waits until the channel is connected, has failed, or `deadline` has come.
bool WaitConnected(grpc::Channel* channel, absl::Time deadline) {
  const auto until = absl::ToChronoTime(deadline);
  for (auto state = channel->GetState(true); state != GRPC_CHANNEL_READY;
       state = channel->GetState(true)) {
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN) return false;
    if (!channel->WaitForStateChange(state, until)) return false;
  }
  return true;
}

}  // namespace

struct Client::Stubs {
  Stubs(const std::shared_ptr<grpc::Channel>& channel, const std::string& token)
      : authorization(token.empty() ? "" : absl::StrCat("Bearer ", token)),
        inference_stub(channel),
        control_stub(channel) {}

  // One call of `stub`'s `method`, answered into `response`.
  template <class Stub, class Request, class Response>
  absl::Status Call(Stub* stub,
                    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    absl::Time deadline, const Request& request, Response* response) const {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(deadline));
    if (!authorization.empty()) context.AddMetadata("authorization", authorization);
    return ToAbsl((stub->*method)(&context, request, response));
  }

  const std::string authorization;
  inference::GRPCInferenceService::Stub inference_stub;
  control::v1::Control::Stub control_stub;
};

Client::Client(std::unique_ptr<Stubs> stubs) : stubs_(std::move(stubs)) {}
Client::~Client() = default;

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const std::string& address,
                                                        absl::Time deadline,
                                                        const ConnectOptions& options) {
  if (!options.token.empty() && !options.tls && !StaysOnThisHost(address)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a token is not sent to ", address, " without TLS"));
  }
  const std::shared_ptr<grpc::Channel> channel =
      grpc::CreateCustomChannel(address, ChannelCredentials(options), ChannelArguments());
  if (!WaitConnected(channel.get(), deadline)) {
    return absl::UnavailableError(absl::StrCat("no server is reachable at ", address));
  }
  return std::unique_ptr<Client>(new Client(std::make_unique<Stubs>(channel, options.token)));
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

absl::StatusOr<InferReply> Client::Infer(const InferRequest& request, absl::Time deadline) {
  const absl::StatusOr<inference::ModelInferRequest> wire = ToWire(request);
  if (!wire.ok()) return wire.status();
  inference::ModelInferResponse response;
  const absl::Status status =
      stubs_->Call(&stubs_->inference_stub, &inference::GRPCInferenceService::Stub::ModelInfer,
                   deadline, *wire, &response);
  if (!status.ok()) return status;
  return FromWire(std::move(response));
}

absl::StatusOr<DaemonStatus> Client::GetDaemonStatus(absl::Time deadline) {
  control::v1::StatusReply reply;
  const absl::Status status =
      stubs_->Call(&stubs_->control_stub, &control::v1::Control::Stub::Status, deadline,
                   control::v1::StatusRequest(), &reply);
  if (!status.ok()) return status;
  return FromWire(reply);
}

}  // namespace mpsd::client
