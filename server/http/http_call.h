// HttpCall, HttpTask, HttpHandler: the interface between the HTTP server and what it serves.
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
  kTooLarge,    // more than the server takes
  kTooMany,     // all bodies, or those of one host, use their whole limit
  kTooSlow,     // it did not come in time
  kMalformed,   // invalid chunks, or another length than announced
  kClientLeft,  // the client has closed the connection, or the server cuts it
};

// One request on a connection, as its handler sees it. The server's connection implements it, one
// request at a time: it reads the next one of a pipeline after the answer.
//
// Lives on its connection's thread, except ReplyPart(), Reply() and Resume(), which any thread may
// call.
class HttpCall {
 public:
  virtual ~HttpCall() = default;

  // Valid until HttpTask::Over(). The body is there once Serve() said kWhole.
  virtual const HttpRequest& request() const = 0;

  // The client's address: "ipv4:127.0.0.1:40312", "unix:".
  virtual const std::string& peer() const = 0;

  // Names in the client's certificate; none if no certificate was verified.
  virtual absl::Span<const std::string> certificate_names() const = 0;

  virtual ConnectionId connection() = 0;

  // Whether the request came by the control socket, which lets in known users alone.
  virtual bool by_control_socket() const { return false; }

  // Whether a reply may have trailers: the connection speaks HTTP/2.
  virtual bool takes_trailers() const { return false; }

  // Has the body come in pieces, while parts of the reply may go out already. The call has no time
  // limit for the body, and the body no bound in bytes: TakeBody() opens the client's window by
  // what it took. At `until_ns` the task is told that its client has left, and its trailers are
  // still sent; INT64_MAX is never. Called by HttpHandler::Arrived() before it returns the task.
  // REQUIRES: takes_trailers().
  virtual void StreamBody(int64_t /*until_ns*/) { MPSD_CHECK(false); }

  // Gives the body, or the pieces that have come, to the caller. The bytes count as held until
  // DropBody() or DropBytes().
  virtual std::string TakeBody() = 0;

  // Frees the body, or says that the caller has freed it.
  virtual void DropBody() = 0;

  // Says that the caller has freed so many bytes of the pieces that it took.
  virtual void DropBytes(size_t /*bytes*/) { MPSD_CHECK(false); }

  // Adds header lines, each with its line break, to the reply, whatever it says. Called before the
  // reply, on the connection's thread.
  virtual void AddHeaders(absl::string_view lines) = 0;

  // The same for the trailers, or the headers of a reply without a body. A reply with a body and
  // without trailers gets none. REQUIRES: takes_trailers().
  virtual void AddTrailers(absl::string_view /*lines*/) { MPSD_CHECK(false); }

  // Begins or continues an answer of unknown length. The first part has the whole answer's status,
  // type and headers; of later parts only the body counts. Reply() ends the answer with a last
  // part, which may be empty. HttpTask::PartTaken() follows each part; neither another part nor
  // Reply() may come before it. Never blocks.
  virtual void ReplyPart(HttpReply part) = 0;

  // Answers the request. Called once for each request. Never blocks, and never fails towards the
  // caller: the connection handles a client that does not take the reply.
  virtual void Reply(HttpReply reply) = 0;

  // Has HttpTask::Resumed() called on the connection's thread, soon.
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
// A task whose call streams its body gets BodyGrew() and ClientLeft() from the beginning on, and
// parts may go out from there:
//
//   BodyGrew, any number of times → Serve → … → Over
//
// Serve() comes once: after kWhole the task takes the last pieces, after kTooMany none comes. There
// is no Serve() after ClientLeft(). Each may come after the reply too, until Over().
class HttpTask {
 public:
  // The body is there, or will not come: then the task replies with an error. After kTooMany and
  // the kinds below it the connection ends with the reply.
  virtual void Serve(BodyEnd body) = 0;

  // The length of a body that begins so, if the client has not announced one; 0: nobody knows.
  virtual size_t BodyBytes(absl::string_view /*first*/) const { return 0; }

  // A body of at least kOfferedBytes is offered once kBeginningBytes of it are there.
  static constexpr size_t kOfferedBytes = 64 << 10;
  static constexpr size_t kBeginningBytes = 1 << 10;

  // Offers the beginning of a body of so many bytes, unless the client streams it. The task returns
  // where the rest goes, and takes the beginning; nothing if the body is to be collected. The rest
  // is written there until Serve(), and the call's own body stays empty. If the body turns out to
  // have another length, Serve() says kMalformed.
  virtual absl::Span<char> TakeBeginning(absl::string_view /*first*/, size_t /*bytes*/) {
    return {};
  }

  // HttpCall::TakeBody() has pieces for the task.
  virtual void BodyGrew() { MPSD_CHECK(false); }

  virtual void Resumed() = 0;
  virtual void ClientLeft() = 0;

  // The server stops: a task that lasts until its client ends it replies soon. May come more than
  // once, and after the reply.
  virtual void EndSoon() {}

  // The last part is written. False: no part can be written any more, but the task replies all the
  // same. If its client is still there, as after HttpReply::taken_by_ns, that reply is trailers.
  virtual void PartTaken(bool /*taken*/) { MPSD_CHECK(false); }

  // The reply was written, or cannot be. The connection no longer touches the task, which frees
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

  // A request's head has come, but not its body. Returns the task that wants the body, or null
  // after a call of Reply(): then the body is never read.
  virtual HttpTask* Arrived(HttpCall* call) = 0;

  // Called after some events of the thread's connections, and before it sleeps. The handler does
  // together what the requests of these events need. Returns how many had to wait for this.
  virtual size_t RoundIsOver() { return 0; }

  // Called five times a second while the thread has connections.
  virtual void Look() {}

  // The reply to what is no request that the server takes, with an HTTP status code and the reason.
  // The call has as much of the request as was understood.
  virtual HttpReply Refusal(const HttpCall& call, int status, absl::string_view why) = 0;
};

// Called once for each thread, before it runs. The role outlives the handler.
using HandlerMaker = std::function<std::unique_ptr<HttpHandler>(const ThreadRole* thread)>;

}  // namespace mpsd
