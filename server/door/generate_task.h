// GenerateTask: one request of the short form, whose fields are tensors.
#pragma once

#include <string>

#include "server/door/infer_task.h"

namespace mpsd {

// A request whose path is "…/generate" or "…/generate_stream" (server/rest/generate.h has the
// bodies). Of ordinary models and of decoupled ones:
//
//   answers     generate           generate_stream
//   none        400                200, no event
//   one         200                200, one event
//   several     400, which ends    200, an event for each as soon as it is there; the next answer
//               the request        is made once the client's socket has taken the one before
//   an error    its code           its code before the first event, else an event with the error
//
// Whether an answer is the only one is known when the next one comes, or none: so `generate` keeps
// the first, and holds that one and no other. A stream has one event out at a time, and the task is
// told when the client's socket has taken the event. The status code and the headers go out with
// the first event; what goes wrong afterwards cannot change them.
//
//   ReadBody, PartTaken, Over          on the connection's thread
//   WriteBody, then one of the Send…   on any thread, the one that gives the answer
//
// The fields of a body are read by the spec of the generation that serves then: UNAVAILABLE where
// the model is not loaded, NOT_FOUND where there is none. JSON of more than limits.http_json is
// refused before it is read. A client that leaves ends the request: no further answer is asked for.
//
// Lives on its connection's thread, except what the exchange calls from any thread. Owned by the
// HttpDoor, as an InferTask.
class GenerateTask final : public InferTask {
 public:
  GenerateTask(const DoorContext* context, Back back)
      : InferTask(context, std::move(back), InferExchange::Answers::kMany) {}

  void PartTaken(bool taken) override;
  void Over() override;

 private:
  absl::Status ReadBody(std::string bytes, InferMessage* message, InferBody* body) override;
  absl::Status WriteBody(const ReplyHead& head, const Answer& answer, const InferBody& body,
                         HttpReply* reply) override;
  void SendPart() override;
  void SendLast() override;
  void SendNoMore() override;
  void SendError(const absl::Status& status) override;

  bool streams() const { return route().kind == RouteKind::kGenerateStream; }

  // Of one request, until Over(). Written by the answers, which never overlap, each perhaps on
  // another thread.
  bool has_answer_ = false;
  HttpReply answer_;       // of generate: the only one so far
  bool has_more_ = false;  // of generate, too: so the request fails
};

}  // namespace mpsd
