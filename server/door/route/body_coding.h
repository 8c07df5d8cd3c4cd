// BodyCoding: how a request's body is compressed.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/http/http_request.h"

namespace mpsd {

enum class BodyCoding : uint8_t {
  kPlain,
  kGzip,
  kDeflate,
  kUnknown,  // another one, or several
};

// From Content-Encoding; "x-gzip" is gzip and "identity" nothing. Pure.
BodyCoding CodingOf(const HttpRequest& request);

// HTTP's code for an unsupported one.
inline constexpr int kUnsupportedMedia = 415;

// UNIMPLEMENTED for an unsupported coding, or for any unless `allowed`. Pure.
absl::Status CheckCoding(BodyCoding coding, bool allowed);

}  // namespace mpsd
