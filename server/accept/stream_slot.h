// StreamSlot: one request of a stream, from its bytes to the bytes of its answer.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>

#include "absl/status/status.h"
#include "server/accept/request_regions.h"
#include "server/accept/request_wire.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"

namespace mpsd {

class StreamCall;

// Lives on its stream's thread, but for Send(), Fail() and End(), one of which comes once a
// request, and SendPart(), from any. Owned by its stream and used again: filled, answered, cleared.
class StreamSlot final : public ReplySink {
 public:
  explicit StreamSlot(StreamCall* stream) : stream_(stream) {}

  void Send(const Answer& answer) override;
  void Fail(const absl::Status& status) override;
  void SendPart(const Answer& answer) override;
  void End() override;

  // Makes the slot fit for the next request. REQUIRES: it was answered.
  void Clear();

  RequestWire wire;
  RequestRegions regions;
  InferMessage message;
  Request request;
  bool traced = false;

  // Guarded by the stream's mutex: what is left to be sent, and the line of answers that it stands
  // in, unless it was seen to be one of several.
  grpc::ByteBuffer response;
  grpc::ByteBuffer final_response;
  bool apart = false;
  bool answered = false;
  size_t line = 0;
  StreamSlot* next = nullptr;

 private:
  bool of_decoupled_model() const;
  void SendAsWished(Answer answer);
  void SendAll(const Answer& answer);
  grpc::ByteBuffer Write(const Answer& answer, bool is_final);
  grpc::ByteBuffer EmptyFinal();
  void TellEnded(absl::StatusCode code);

  StreamCall* const stream_;
  std::string scratch_;
  absl::Status refusal_;  // why an answer could not be sent as the client wished
};

}  // namespace mpsd
