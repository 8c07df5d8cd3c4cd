// HttpReply: the answer to one HTTP request, in plain fields.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "server/request/splices.h"

namespace mpsd {

inline constexpr char kJsonType[] = "application/json";  // type of a reply's body

// Made by a handler, written by the connection. The connection adds the length and whether it stays
// open. A value, moved and not copied.
//
//   HttpReply reply(429, kJsonType, std::move(json));
//   reply.AddHeader("Retry-After", "2");
//   call->Reply(std::move(reply));  // on any thread; from here on the reply is the connection's
//
// Large pieces of the body may lie elsewhere, in `splices`, and `held` keeps them. Only a reply
// without parts may have some.
//
// The handler bounds the body: nothing here does. The connection frees the body and `held` on its
// thread, once the kernel has taken the last byte or the connection has ended. So `held` holds what
// must count until a slow client has taken its answer, such as UnreadCopies::Room.
struct HttpReply {
  HttpReply() = default;
  HttpReply(int status_code, const char* type, std::string text)
      : status(status_code), content_type(type), body(std::move(text)) {}
  HttpReply(HttpReply&&) = default;
  HttpReply& operator=(HttpReply&&) = default;

  // Adds a header, even beside others of that name. REQUIRES: name and value have no line break,
  // and HeadOf() does not write the name: Content-Type, Content-Length, Connection,
  // Transfer-Encoding.
  void AddHeader(absl::string_view name, absl::string_view value);

  size_t body_bytes() const { return body.size() + splices.bytes(); }

  int status = 200;
  const char* content_type = kJsonType;  // a constant
  std::string headers;                   // further header lines, each with its break
  std::string body;
  Splices splices;           // in `body`
  std::string trailers;      // behind the body, likewise. Only where HttpCall::takes_trailers()
  bool tells_length = true;  // false: by no header, as gRPC has it
  // For a part of a call that streams its body: when the client must have taken the part. 0: the
  // server's time for a reply. A part that is late is cut: HttpTask::PartTaken(false).
  int64_t taken_by_ns = 0;
  std::shared_ptr<void> held;  // released when the reply was written, or cannot be
};

// How a connection continues after a reply. HTTP/1.1 implies kKeepAlive, so the head does not say
// it; a client of HTTP/1.0 must be told.
enum class HttpNext { kClose, kKeepAlive, kKeepAliveOf10 };

// The bytes before the body: status line and headers. HEAD gets only these, with the length of the
// body for a GET. Pure.
std::string HeadOf(const HttpReply& reply, HttpNext next);

// The same for an answer of unknown length. Its end is the end of its chunks, or with `is_10` of
// the connection. Pure.
std::string HeadOfParts(const HttpReply& first, HttpNext next, bool is_10);

// Makes `body` a chunk, unless it is empty. The last one includes the end of all chunks. The bytes
// before the body are appended to `head`. Pure.
void PutChunk(bool is_last, std::string* head, std::string* body);

// The words for a status code: "Not Found". Codes that no handler uses get those of 500. Pure.
absl::string_view ReasonOf(int status);

}  // namespace mpsd
