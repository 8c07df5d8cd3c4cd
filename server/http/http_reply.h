// HttpReply: the answer to one HTTP request, in plain fields.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "server/request/splices.h"

namespace mpsd {

inline constexpr char kJsonType[] = "application/json";

// Made by a handler, written by the connection, which adds the length and whether it stays open.
// Moved, not copied. The handler bounds the body.
//
// Large pieces of the body may lie in `splices`, unless the reply has parts. The connection frees
// the body and `held` on its thread, once the kernel has taken the last byte or the connection has
// ended. So `held` keeps what must count until then, such as UnreadCopies::Room.
struct HttpReply {
  HttpReply() = default;
  HttpReply(int status_code, const char* type, std::string text)
      : status(status_code), content_type(type), body(std::move(text)) {}
  HttpReply(HttpReply&&) = default;
  HttpReply& operator=(HttpReply&&) = default;

  // Adds a header, even beside others of that name. REQUIRES: no line breaks, and none of
  // HeadOf()'s names: Content-Type, Content-Length, Connection, Transfer-Encoding.
  void AddHeader(absl::string_view name, absl::string_view value);

  size_t body_bytes() const { return body.size() + splices.bytes(); }

  int status = 200;
  const char* content_type = kJsonType;  // a constant
  std::string headers;                   // further lines, each with its break
  std::string body;
  Splices splices;           // in `body`
  std::string trailers;      // lines behind the body; only where HttpCall::takes_trailers()
  bool tells_length = true;  // false: no header does, as in gRPC
  // When the client must have taken this part of a streaming call; 0: the server's time for a
  // reply. A late part is cut: HttpTask::PartTaken(false).
  int64_t taken_by_ns = 0;
  std::shared_ptr<void> held;  // released when the reply was written, or cannot be
};

// How a connection continues. HTTP/1.1 implies kKeepAlive; a client of HTTP/1.0 must be told.
enum class HttpNext { kClose, kKeepAlive, kKeepAliveOf10 };

// Status line and headers. The length is the body's, also for HEAD, which gets no body. Pure.
std::string HeadOf(const HttpReply& reply, HttpNext next);

// The same for an answer that ends with its chunks, or with the connection if `is_10`. Pure.
std::string HeadOfParts(const HttpReply& first, HttpNext next, bool is_10);

// Makes `body` a chunk, unless it is empty. The last one includes the end of all chunks. Bytes
// before the body are appended to `head`. Pure.
void PutChunk(bool is_last, std::string* head, std::string* body);

// "Not Found". Codes that no handler uses get the words of 500. Pure.
absl::string_view ReasonOf(int status);

}  // namespace mpsd
