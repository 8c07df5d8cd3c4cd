// HttpParser: reads heads and chunks of HTTP/1 requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "server/http/http_request.h"

namespace mpsd {

struct HttpFraming {
  bool is_chunked = false;
  uint64_t body_bytes = 0;  // if not chunked
  bool keeps_alive = false;
  bool is_10 = false;
  bool expects_continue = false;
};

// 0: the request is not refused.
struct HttpFault {
  int status = 0;
  absl::string_view why;
};

// Fills path and query from "/path?query" or an absolute URI. Pure.
void SetTarget(absl::string_view target, HttpRequest* request);

inline constexpr char kWrongForm[] = "the request is not HTTP/1.1";

// Reads one request after another. Boost.Beast checks the form of every line. Refused besides is
// what a proxy before us could read in another way:
//
//   two lengths, a length beside chunks, a list of lengths       400
//   a header that goes on in the next line (obs-fold)            400
//   a Transfer-Encoding that "chunked" does not end, or of 1.0   400
//   another one before "chunked"                                 501
//   no Host or two in HTTP/1.1                                   400
//   CONNECT                                                      501
//   another version than 1.0 and 1.1                             505
//   an expectation other than 100-continue                       417
//
// Trailers may have any name; nobody reads them. Keeps its state between the pieces of a chunked
// body. Owned by a connection. Thread-compatible.
class HttpParser {
 public:
  HttpParser();
  ~HttpParser();

  // Begins a new request: reads `request->head`, which ends with the empty line, into the other
  // fields. After a fault nothing more can be read from the connection.
  HttpFault ReadHead(HttpRequest* request, HttpFraming* framing);

  enum class Chunks { kMore, kDone, kMalformed, kTooLarge };

  // Reads chunks of the body, which gets at most `most` bytes. Sets `*used`; unread bytes come
  // again, with more behind them. After kDone the rest belongs to the next request.
  Chunks ReadChunks(absl::string_view bytes, uint64_t most, HttpBody* body, size_t* used);

 private:
  Chunks ReadTrailers(absl::string_view bytes, size_t* used) const;

  class WithoutTrailers;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
