// HttpCall, HttpTask, HttpHandler: the seam between the HTTP server and what it serves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/check.h"
#include "proto/base/thread_role.h"
#include "server/http/http_reply.h"
#include "server/http/http_request.h"
#include "server/listen/connection_id.h"

namespace mpsd {

// How the body of a request has ended.
enum class BodyEnd {
  kWhole,
  kTooLarge,    // more than the server takes
  kTooMany,     // the bodies of all requests, or of those of one host, take all that they may
  kTooSlow,     // it did not come in time
  kMalformed,   // the chunks are none
  kClientLeft,  // the client has closed the connection, or the server cuts it
};

// One request on a connection, as its handler sees it. Implemented by the server's connection, one
// request at a time: the next one of a pipeline is read when this one is answered.
//
// Lives on its connection's thread, except ReplyPart(), Reply() and Resume(), which any thread may
// call.
class HttpCall {
 public:
  virtual ~HttpCall() = default;

  // Valid until HttpTask::Over(). The body is there once Serve() said kWhole.
  virtual const HttpRequest& request() const = 0;

  // The other end: "ipv4:127.0.0.1:40312", "unix:".
  virtual const std::string& peer() const = 0;

  // The names in the client's certificate; none where no certificate was verified.
  virtual absl::Span<const std::string> certificate_names() const = 0;

  virtual ConnectionId connection() = 0;

  // Gives the body to the caller. Its bytes count as held until DropBody().
  virtual std::string TakeBody() = 0;

  // Frees the body, or says that the caller has freed it.
  virtual void DropBody() = 0;

  // The reply to this request has these headers too, whatever it says: lines, each with its break.
  // Called before the reply is given, on the connection's thread.
  virtual void AddHeaders(absl::string_view lines) = 0;

  // Begins an answer whose length nobody knows yet, or goes on with it: the first part has status,
  // type and headers of the whole answer, of the others the body counts alone. Reply() ends the
  // answer with a last part, which may be empty. HttpTask::PartTaken() comes after each, and
  // neither another part nor Reply() before it. Never blocks.
  virtual void ReplyPart(HttpReply part) = 0;

  // Answers the request. Called once for each request, never blocks, and does not fail towards the
  // caller: whether the client takes the reply is the connection's business.
  virtual void Reply(HttpReply reply) = 0;

  // Has HttpTask::Resumed() called on the connection's thread, soon.
  virtual void Resume() = 0;
};

// What serves one request. Lives on the connection's thread, which calls it:
//
//   Serve → [Resumed] → … the task calls HttpCall::Reply(), on any thread … → Over
//                         (ReplyPart → PartTaken) before it, any number of times
//
// ClientLeft() may come once between Serve() and Over(), but not after Serve(kClientLeft); the task
// replies all the same.
class HttpTask {
 public:
  // The body is there, or will not come: then the task replies with an error. After kTooMany and
  // the kinds below it the connection ends with the reply.
  virtual void Serve(BodyEnd body) = 0;

  virtual void Resumed() = 0;
  virtual void ClientLeft() = 0;

  // The part that was given last is written; or, with false, nothing can be written any more, and
  // the task replies all the same.
  virtual void PartTaken(bool /*taken*/) { MPSD_CHECK(false); }

  // The reply was written, or cannot be. The connection touches the task no more: the task frees
  // itself.
  virtual void Over() = 0;

 protected:
  ~HttpTask() = default;
};

// Answers the requests of one of the server's threads, which owns it. Made by the HandlerMaker.
// Lives on that thread.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // The head of a request has come, its body has not. Returns the task that wants the body, or null
  // when this has called Reply() already: then the body is never read.
  virtual HttpTask* Arrived(HttpCall* call) = 0;

  // The reply to bytes that are no request, with a status code of HTTP and why.
  virtual HttpReply Refusal(int status, absl::string_view why) = 0;
};

// Called once for each thread, before it runs. The role outlives the handler.
using HandlerMaker = std::function<std::unique_ptr<HttpHandler>(const ThreadRole* thread)>;

}  // namespace mpsd
