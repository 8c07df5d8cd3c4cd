// GenerateTask: one request in the short form, whose fields are tensors.
#pragma once

#include <string>

#include "server/door/infer_task.h"

namespace mpsd {

// A request with the path "…/generate" or "…/generate_stream" (server/bodies/json/generate.h has
// the bodies), to an ordinary or a decoupled model:
//
//   answers     generate           generate_stream
//   none        400                200, no event
//   one         200                200, one event
//   several     400, which ends    200, an event for each as soon as it is there; the next answer
//               the request        is made once the client's socket has taken the one before
//   an error    its code           its code before the first event, else an event with the error
//
// Whether an answer is the only one is known when the next one comes, or none. So `generate` keeps
// the first answer and no other. A stream has one event under way at a time, and the task is told
// when the client's socket has taken it. Status code and headers go out with the first event; later
// errors cannot change them.
//
//   ReadBody, PartTaken, Over          on the connection's thread
//   WriteBody, then one of the Send…   on any thread, the one that gives the answer
//
// The spec of the currently serving generation says how the body's fields are read: UNAVAILABLE if
// the model is not loaded, NOT_FOUND if there is none. JSON of more than limits.http_json is
// refused unread. If the client leaves, the request ends: no further answer is asked for.
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

  // State of one request, until Over(). Written by the answers, which never overlap but may come on
  // different threads.
  bool has_answer_ = false;
  HttpReply answer_;       // for generate: the only one so far
  bool has_more_ = false;  // for generate: so the request fails
};

}  // namespace mpsd
