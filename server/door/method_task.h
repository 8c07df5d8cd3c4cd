// MethodTask: one HTTP request that does not infer.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/door/door_context.h"
#include "server/door/route/route.h"
#include "server/http/http_call.h"

namespace mpsd {

// Path and body become the request of a method in the MethodTable, and its response becomes JSON.
// ModelReady answers with the code alone, 200 or 503. The status for the route "/" becomes a page.
//
//   Serve → the method answers, at once or later on any thread → Over
//
// Made for a request that has passed the gate. Holds a place among the open calls until Over(), so
// a deferred method finds the task alive. A method that has begun runs to its end, even if the
// client leaves.
//
//   body                                     reply
//   larger than kMaxRequestBytes             413
//   did not come, or not in time             as FaultOf()
//   not that of the method                   400; the method does not run
//   read                                     what the method says, by ErrorReply() or as JSON
//
// Lives on its connection's thread, except a deferred method's answer. Owns itself.
class MethodTask final : public HttpTask {
 public:
  // The context outlives the task.
  MethodTask(const DoorContext* context, HttpCall* call, Route route, OpenCalls::Place place)
      : context_(context), call_(call), route_(std::move(route)), place_(std::move(place)) {}

  // As for a gRPC method.
  static constexpr size_t kMaxRequestBytes = 256 << 10;

  // HttpTask.
  void Serve(BodyEnd body) override;
  void Resumed() override {}
  void ClientLeft() override {}
  void Over() override { delete this; }

 private:
  ~MethodTask() = default;

  void Call(const std::string& request);
  HttpReply ReplyTo(const absl::Status& status, const std::string& response) const;
  HttpReply FrontPage(const absl::Status& status, const std::string& response) const;

  const DoorContext* const context_;
  HttpCall* const call_;
  const Route route_;
  const OpenCalls::Place place_;
};

}  // namespace mpsd
