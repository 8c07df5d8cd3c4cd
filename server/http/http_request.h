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

// One line of the head, as a view of HttpRequest::head. The name is as the client wrote it, in any
// case.
struct HttpHeader {
  absl::string_view name;
  absl::string_view value;  // without the blanks around it
};

// What a handler sees of a request. Filled by the HttpParser; nothing of it is decoded, and nothing
// but its form was checked. Not to be copied or moved, since the views show `head`.
//
// Part of an HttpConnection, which uses one object for all its requests: the views are valid until
// HttpTask::Over() has returned. What a task needs for longer, or gives to another thread, it
// copies. The server's options bound the head and the body; a trailer behind chunks is dropped.
//
// Thread-compatible: constant while a handler has it, except for the body.
struct HttpRequest {
  HttpRequest() = default;
  HttpRequest(const HttpRequest&) = delete;
  HttpRequest& operator=(const HttpRequest&) = delete;

  std::string head;  // the bytes of the request line and the headers
  absl::string_view method;
  absl::string_view path;                       // "/v2/models/a%20b"; of an absolute URI its path
  absl::string_view query;                      // what follows the "?"
  absl::InlinedVector<HttpHeader, 16> headers;  // in the client's order
  HttpBody body;

  // The value of the first header of this name; empty when there is none. Case does not matter.
  // Readers disagree on which of two lines counts: where a header decides about access or about the
  // bytes of the body, the caller refuses a CountOf() above 1. Both cost a look at each header.
  absl::string_view Header(absl::string_view name) const {
    for (const HttpHeader& header : headers) {
      if (absl::EqualsIgnoreCase(header.name, name)) return header.value;
    }
    return {};
  }

  size_t CountOf(absl::string_view name) const {
    size_t count = 0;
    for (const HttpHeader& header : headers) count += absl::EqualsIgnoreCase(header.name, name);
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
