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

// One line of the head, as a view of HttpRequest::head. The name may be in any case.
struct HttpHeader {
  absl::string_view name;
  absl::string_view value;  // without blanks around it

  // Most names differ in length.
  bool Has(absl::string_view other) const {
    return name.size() == other.size() && absl::EqualsIgnoreCase(name, other);
  }
};

// A handler's view of a request, filled by the HttpParser. Nothing is decoded, and only the form is
// checked. Not to be copied or moved, since the views show `head`.
//
// Part of an HttpConnection, which uses one object for all its requests. The views are valid until
// HttpTask::Over() has returned; a task copies what it needs longer or gives to another thread. The
// server's options bound the head and the body. Trailers behind chunks are dropped.
//
// Thread-compatible: constant while a handler has it, except for the body.
struct HttpRequest {
  HttpRequest() = default;
  HttpRequest(const HttpRequest&) = delete;
  HttpRequest& operator=(const HttpRequest&) = delete;

  std::string head;  // request line and headers
  absl::string_view method;
  absl::string_view path;                      // "/v2/models/a%20b"; for an absolute URI its path
  absl::string_view query;                     // after the "?"
  absl::InlinedVector<HttpHeader, 8> headers;  // in the client's order
  HttpBody body;

  // The value of the first header with this name in any case; empty if there is none. Readers
  // disagree on which of two lines counts. So for a header that decides about access or the body's
  // bytes, the caller refuses a CountOf() above 1. Both look at each header.
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
