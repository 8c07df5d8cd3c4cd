// StreamSlot: one request of a stream, from its bytes to the bytes of its answer.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>

#include "absl/status/status.h"
#include "server/accept/device_load.h"
#include "server/accept/queue_tag.h"
#include "server/regions/request_regions.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/telemetry/answer_statistics.h"
#include "server/wire/request_wire.h"

namespace mpsd {

class StreamCall;

// Lives on its stream's thread, but for Send(), Fail() and End(), one of which comes once a
// request, and SendPart(), from any. Owned by its stream and used again: filled, answered, cleared.
// Inputs in devices' memory come with Loaded, between the first two; an answer with outputs there
// goes to the stream from the copier's thread.
class StreamSlot final : public ReplySink {
 public:
  explicit StreamSlot(StreamCall* stream) : stream_(stream) {}

  void Send(const Answer& answer) override;
  void Fail(const absl::Status& status) override;
  void SendPart(const Answer& answer) override;
  void End() override;

  // Has the inputs that lie in devices' memory copied; StreamCall::Loaded() follows. A status is
  // the request's ending.
  absl::Status LoadFromDevice(const InferCallContext& context);
  const absl::Status& load_status() const { return device_load_.status(); }

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
  void Loaded(bool ok);
  bool of_decoupled_model() const;
  void SendAsWished(Answer answer);
  void SendWhenStored(const Answer& answer);
  void SendPartAsItIs(const Answer& answer);
  void SendPartWhenStored(const Answer& answer);
  void RefusePart(const absl::Status& status);
  void SendAll(const Answer& answer);
  absl::StatusOr<grpc::ByteBuffer> Write(const Answer& answer, bool is_final);
  grpc::ByteBuffer EmptyFinal();
  void CountAnswer(AnswerOutcome outcome);
  void TellEnded(absl::StatusCode code);

  StreamCall* const stream_;
  MemberTag<StreamSlot, &StreamSlot::Loaded> loaded_{this};
  DeviceLoad device_load_;
  std::string scratch_;
  absl::Status refusal_;  // why an answer could not be sent as the client wished
  StageSums counted_;     // until the answer that was counted last
  uint32_t sent_answers_ = 0;
};

}  // namespace mpsd
