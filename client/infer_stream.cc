#include "client/infer_stream.h"

#include <grpcpp/grpcpp.h>

#include <thread>
#include <utility>

#include "client/stubs.h"
#include "client/wire.h"

namespace mpsd::client {

struct InferStream::Call {
  explicit Call(OnReply callback) : on_reply(std::move(callback)) {}

  void ReadAll() {
    inference::ModelStreamInferResponse response;
    while (stream->Read(&response)) on_reply(ReplyFromWire(std::move(response)));
  }

  static StreamReply ReplyFromWire(inference::ModelStreamInferResponse response) {
    const std::string id = response.infer_response().id();
    if (!response.error_message().empty()) {
      return {id, absl::UnknownError(response.error_message())};
    }
    return {id, FromWire(std::move(*response.mutable_infer_response()))};
  }

  const OnReply on_reply;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriterInterface<inference::ModelInferRequest,
                                                    inference::ModelStreamInferResponse>>
      stream;
  std::thread reader;
  bool finished = false;
};

InferStream::InferStream(std::unique_ptr<Call> call) : call_(std::move(call)) {}

std::unique_ptr<InferStream> InferStream::Open(Client* client, absl::Time deadline,
                                               OnReply on_reply) {
  auto call = std::make_unique<Call>(std::move(on_reply));
  client->stubs().Prepare(deadline, &call->context);
  call->stream = client->stubs().inference_stub.ModelStreamInfer(&call->context);
  call->reader = std::thread([call = call.get()] { call->ReadAll(); });
  return std::unique_ptr<InferStream>(new InferStream(std::move(call)));
}

InferStream::~InferStream() {
  if (call_->finished) return;
  call_->context.TryCancel();
  call_->reader.join();
  call_->stream->Finish();
}

absl::Status InferStream::Send(const InferRequest& request) {
  const absl::StatusOr<inference::ModelInferRequest> wire = ToWire(request);
  if (!wire.ok()) return wire.status();
  if (call_->stream->Write(*wire)) return absl::OkStatus();
  return absl::UnavailableError("the stream has ended");
}

absl::Status InferStream::Finish() {
  call_->stream->WritesDone();
  call_->reader.join();
  call_->finished = true;
  return ToAbsl(call_->stream->Finish());
}

}  // namespace mpsd::client
