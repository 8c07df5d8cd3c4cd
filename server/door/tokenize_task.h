// TokenizeTask: one request for tokens of texts, or for Ollama's facts about a model.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/bodies/text_routes/tokenize.h"
#include "server/door/door_context.h"
#include "server/door/route/route.h"
#include "server/http/http_call.h"

namespace mpsd {

// Answers POST /tokenize and /api/show on its own thread: the thread's other requests wait for at
// most a few milliseconds. Errors are in the route's words (RouteError):
//
//   413                a body of more than kMaxBodyBytes
//   INVALID_ARGUMENT   the body is no TokenizeRequest, or has more texts than limits.texts; or
//                      names no model to show; the model takes no texts
//   as FindForCaller() the model is unknown or not loaded, or the caller may not use it: the task
//                      asks the gate for that once the body was read
//   UNAVAILABLE        the model's tokenizer could not be used
//
// Holds a place among the calls that do not infer until Over(). Lives on its connection's thread.
// Owns itself.
class TokenizeTask final : public HttpTask {
 public:
  // The caller may infer, by `grant`. The context outlives the task.
  TokenizeTask(const DoorContext* context, HttpCall* call, Route route, OpenCalls::Place place,
               const Grant& grant)
      : context_(context),
        call_(call),
        route_(std::move(route)),
        place_(std::move(place)),
        grant_(grant) {}

  static constexpr size_t kMaxBodyBytes = kMaxTokenizeBytes;

  // HttpTask.
  void Serve(BodyEnd body) override;
  void Resumed() override {}
  void ClientLeft() override {}
  void Over() override { delete this; }

 private:
  ~TokenizeTask() = default;

  absl::StatusOr<std::string> Answer();
  absl::StatusOr<std::string> Show(std::string body);

  const DoorContext* const context_;
  HttpCall* const call_;
  const Route route_;
  const OpenCalls::Place place_;
  Grant grant_;
};

}  // namespace mpsd
