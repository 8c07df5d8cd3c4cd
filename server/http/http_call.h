// HttpCall, HttpTask, HttpHandler: how the HTTP server and what it serves meet.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/check.h"
#include "proto/base/thread_role.h"
#include "server/http/connections/connection_id.h"
#include "server/http/http_reply.h"
#include "server/http/http_request.h"

namespace mpsd {

enum class BodyEnd {
  kWhole,
  kTooLarge,
  kTooMany,  // all bodies, or one host's, use their whole limit
  kTooSlow,
  kMalformed,   // bad chunks, or another length than announced
  kClientLeft,  // or the server cuts the connection
};

// One request, as its handler sees it. Lives on its connection's thread, except ReplyPart(),
// Reply() and Resume(), which are thread-safe.
class HttpCall {
 public:
  virtual ~HttpCall() = default;

  // Valid until HttpTask::Over(). The body is there from Serve(kWhole) on.
  virtual const HttpRequest& request() const = 0;

  // "ipv4:127.0.0.1:40312", "unix:".
  virtual const std::string& peer() const = 0;

  // Empty if no certificate was verified.
  virtual absl::Span<const std::string> certificate_names() const = 0;

  virtual ConnectionId connection() = 0;

  virtual bool by_control_socket() const { return false; }

  // Only over HTTP/2.
  virtual bool takes_trailers() const { return false; }

  // Has the body come in pieces, without a bound in bytes or time, while parts of the reply may go
  // out. TakeBody() opens the client's window by what it took. At `until_ns` the task gets
  // ClientLeft(), but its trailers are still sent; INT64_MAX is never. REQUIRES: takes_trailers(),
  // and HttpHandler::Arrived() has not returned.
  virtual void StreamBody(int64_t /*until_ns*/) { MPSD_CHECK(false); }

  // The body, or the pieces that have come. They count as held until DropBody() or DropBytes().
  virtual std::string TakeBody() = 0;

  // Frees the body, or says that the caller freed it.
  virtual void DropBody() = 0;

  // The caller has freed so many bytes of its pieces.
  virtual void DropBytes(size_t /*bytes*/) { MPSD_CHECK(false); }

  // For any reply, each with its line break. Called before the reply, on the connection's thread.
  virtual void AddHeaders(absl::string_view lines) = 0;

  // For the trailers, or the headers of a reply without a body. A reply with a body and no trailers
  // gets none. REQUIRES: takes_trailers().
  virtual void AddTrailers(absl::string_view /*lines*/) { MPSD_CHECK(false); }

  // Gives a part of an answer of unknown length. Only the first part's status, type and headers
  // count. The next part, or Reply() with the last one, waits for PartTaken(). Never blocks.
  virtual void ReplyPart(HttpReply part) = 0;

  // Called once. Never blocks or fails, even if the client takes nothing.
  virtual void Reply(HttpReply reply) = 0;

  // Has HttpTask::Resumed() called soon.
  virtual void Resume() = 0;
};

// Serves one request. Lives on the connection's thread, which calls it:
//
//   Serve → [Resumed] → … the task calls HttpCall::Reply(), on any thread … → Over
//                         (ReplyPart → PartTaken) before it, any number of times
//
// ClientLeft() may come once between Serve() and Over(), but not after Serve(kClientLeft). The task
// replies all the same.
//
// If the call streams its body, parts and ClientLeft() may come from the beginning on:
//
//   BodyGrew, any number of times → Serve → … → Over
//
// Serve() then comes once, unless ClientLeft() was first. After kWhole the task takes the last
// pieces, after kTooMany none comes. BodyGrew() and Serve() may follow the reply.
class HttpTask {
 public:
  // Unless the body is whole, the task replies with an error. From kTooMany on, the connection then
  // ends.
  virtual void Serve(BodyEnd body) = 0;

  // Length of a body that begins so and was not announced; 0: unknown.
  virtual size_t BodyBytes(absl::string_view /*first*/) const { return 0; }

  // From kOfferedBytes on, a body is offered once kBeginningBytes of it are there.
  static constexpr size_t kOfferedBytes = 64 << 10;
  static constexpr size_t kBeginningBytes = 1 << 10;

  // Offers the beginning of a body of so many bytes. The task takes it and returns the place of the
  // rest, which is written there until Serve(); or nothing, to have the body collected.
  virtual absl::Span<char> TakeBeginning(absl::string_view /*first*/, size_t /*bytes*/) {
    return {};
  }

  virtual void BodyGrew() { MPSD_CHECK(false); }

  virtual void Resumed() = 0;
  virtual void ClientLeft() = 0;

  // The server stops: a task that lasts until its client ends it replies soon. May come repeatedly,
  // and after the reply.
  virtual void EndSoon() {}

  // The last part is written. False: no further one can be, but the task replies all the same. That
  // reply is trailers if its client is still there, as after HttpReply::taken_by_ns.
  virtual void PartTaken(bool /*taken*/) { MPSD_CHECK(false); }

  // The reply was written, or cannot be. The task frees itself.
  virtual void Over() = 0;

 protected:
  ~HttpTask() = default;
};

// Owned by one of the server's threads. Lives on that thread.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // A request's head has come. Null after a call of Reply(): the body is never read.
  virtual HttpTask* Arrived(HttpCall* call) = 0;

  // Does together what the requests of a round of events need. Returns how many waited for this.
  virtual size_t RoundIsOver() { return 0; }

  // Called five times a second while there are connections.
  virtual void Look() {}

  // The reply to what is no acceptable request. `call` has what was understood.
  virtual HttpReply Refusal(const HttpCall& call, int status, absl::string_view why) = 0;
};

// Called once a thread, before it runs. The role outlives the handler.
using HandlerMaker = std::function<std::unique_ptr<HttpHandler>(const ThreadRole* thread)>;

}  // namespace mpsd
