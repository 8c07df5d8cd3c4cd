// GenerateTask: one request in the short form.
#pragma once

#include <string>

#include "server/door/infer_task.h"

namespace mpsd {

// Requests of "…/generate" and "…/generate_stream":
//
//   answers     generate           generate_stream
//   none        400                200, no event
//   one         200                200, one event
//   several     400, which ends    200, an event for each as soon as it is there; the next answer
//               the request        is made once the client's socket has taken the one before
//   an error    its code           its code before the first event, else an event with the error
//
// Only the next answer, or its lack, tells whether an answer is the only one: `generate` keeps the
// first and no other.
//
//   ReadBody, PartTaken, Over          on the connection's thread
//   WriteBody, then one of the Send…   on any thread, the one that gives the answer
//
// The serving generation's spec says how fields are read: UNAVAILABLE if the model is not loaded,
// NOT_FOUND if there is none. JSON beyond limits.http_json is refused unread. A client that leaves
// ends the request.
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

  // One request's, until Over(). Written by the answers, which never overlap.
  bool has_answer_ = false;
  HttpReply answer_;       // for generate: the only one so far
  bool has_more_ = false;  // for generate: so the request fails
};

}  // namespace mpsd
