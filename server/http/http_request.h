// HttpRequest: one HTTP request as it came, in plain fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "server/http/http_body.h"

namespace mpsd {

// A line of HttpRequest::head. The name may be in any case.
struct HttpHeader {
  absl::string_view name;
  absl::string_view value;  // without blanks around it

  // Most names differ in length.
  bool Has(absl::string_view other) const {
    return name.size() == other.size() && absl::EqualsIgnoreCase(name, other);
  }
};

// A handler's view of a request, checked only in form and not decoded. Not to be moved, since the
// views show `head`.
//
// Part of an HttpConnection, which uses it again, or of an Http2Stream. The views are valid until
// HttpTask::Over() has returned. The server's options bound the head and the body.
//
// Thread-compatible: constant while a handler has it, except the body.
struct HttpRequest {
  HttpRequest() = default;
  HttpRequest(const HttpRequest&) = delete;
  HttpRequest& operator=(const HttpRequest&) = delete;

  std::string head;  // request line and headers
  absl::string_view method;
  absl::string_view path;                      // "/v2/models/a%20b"; of an absolute URI its path
  absl::string_view query;                     // after the "?"
  absl::InlinedVector<HttpHeader, 8> headers;  // in the client's order
  HttpBody body;

  // The first header with this name in any case; else empty. Readers disagree on which of two lines
  // counts. For a header that decides about access or the body's bytes, the caller refuses a
  // CountOf() above 1.
  absl::string_view Header(absl::string_view name) const {
    for (const HttpHeader& header : headers) {
      if (header.Has(name)) return header.value;
    }
    return {};
  }

  size_t CountOf(absl::string_view name) const {
    size_t count = 0;
    for (const HttpHeader& header : headers) count += header.Has(name);
    return count;
  }

  void Clear() {
    head.clear();
    method = path = query = absl::string_view();
    headers.clear();
    body.Take();
  }
};

}  // namespace mpsd
