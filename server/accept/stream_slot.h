// StreamSlot: one request of a stream, from its bytes to the bytes of its answer.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>

#include "server/accept/request_regions.h"
#include "server/accept/request_wire.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"

namespace mpsd {

class StreamCall;

// Lives on its stream's thread, but for Send() and Fail(), one of which comes once a request, from
// any. Owned by its stream and used again: filled, answered, cleared.
class StreamSlot final : public ReplySink {
 public:
  explicit StreamSlot(StreamCall* stream) : stream_(stream) {}

  void Send(const Answer& answer) override;
  void Fail(const absl::Status& status) override;

  // Makes the slot fit for the next request. REQUIRES: it was answered.
  void Clear();

  RequestWire wire;
  RequestRegions regions;
  InferMessage message;
  Request request;
  bool traced = false;

  // Guarded by the stream's mutex: the line of answers that this one stands in.
  grpc::ByteBuffer response;
  bool answered = false;
  size_t line = 0;
  StreamSlot* next = nullptr;

 private:
  void SendAsWished(Answer answer);
  void SendAll(const Answer& answer);
  void TellEnded(absl::StatusCode code);

  StreamCall* const stream_;
  std::string scratch_;
};

}  // namespace mpsd
