// HttpReply: the answer to one HTTP request, in plain fields.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace mpsd {

inline constexpr char kJsonType[] = "application/json";  // of a reply's body

// Made by a handler, written by the connection, which adds the length and whether the connection
// stays open. A value, moved and not copied.
//
//   HttpReply reply(429, kJsonType, std::move(json));
//   reply.AddHeader("Retry-After", "2");
//   call->Reply(std::move(reply));  // on any thread; from here on the reply is the connection's
//
// The handler bounds the body: nothing here does. The connection frees the body and `held` on its
// thread, once the kernel has taken the last byte or the connection has ended. So `held` is the
// place for what has to count until a slow client has taken its answer, as UnreadCopies::Room.
struct HttpReply {
  HttpReply() = default;
  HttpReply(int status_code, const char* type, std::string text)
      : status(status_code), content_type(type), body(std::move(text)) {}
  HttpReply(HttpReply&&) = default;
  HttpReply& operator=(HttpReply&&) = default;

  // Adds a header, beside others of the same name. REQUIRES: name and value have no line break,
  // and the name is none of those that HeadOf() writes: Content-Type, Content-Length, Connection,
  // Transfer-Encoding.
  void AddHeader(absl::string_view name, absl::string_view value);

  int status = 200;
  const char* content_type = kJsonType;  // a constant
  std::string headers;                   // further ones, each with its line break
  std::string body;
  std::shared_ptr<void> held;  // released when the reply was written, or cannot be
};

// How a connection goes on after a reply. A client of HTTP/1.1 takes kKeepAlive for granted, and
// the head does not say it; a client of HTTP/1.0 has to be told.
enum class HttpNext { kClose, kKeepAlive, kKeepAliveOf10 };

// The bytes before the body: status line and headers. The answer to HEAD is this alone, and has the
// length of the body that a GET would get. Pure.
std::string HeadOf(const HttpReply& reply, HttpNext next);

// The same for an answer whose length nobody knows yet: its end is that of its chunks, or, with
// `is_10`, that of the connection. Pure.
std::string HeadOfParts(const HttpReply& first, HttpNext next, bool is_10);

// Makes `body` a chunk, which an empty one is not; the last one has the end of all chunks behind
// it. What comes before the body goes to the end of `head`. Pure.
void PutChunk(bool is_last, std::string* head, std::string* body);

// The words for a status code: "Not Found". A code that no handler here gives has those of 500.
// Pure.
absl::string_view ReasonOf(int status);

}  // namespace mpsd
