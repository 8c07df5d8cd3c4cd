// BodyCoding: how the body of a request is compressed.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/http/http_request.h"

namespace mpsd {

enum class BodyCoding : uint8_t {
  kPlain,
  kGzip,
  kDeflate,
  kUnknown,  // another one, or several one over the other
};

// What Content-Encoding says; "x-gzip" is gzip and "identity" nothing. Pure.
BodyCoding CodingOf(const HttpRequest& request);

// The code of HTTP for a body that is compressed in a way that is not served.
inline constexpr int kUnsupportedMedia = 415;

// UNIMPLEMENTED for what is not served; compressed bodies are only where they are `allowed`. Pure.
absl::Status CheckCoding(BodyCoding coding, bool allowed);

}  // namespace mpsd
