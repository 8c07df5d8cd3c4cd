#include "server/door/route/body_coding.h"

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace mpsd {
namespace {

constexpr char kEncoding[] = "content-encoding";

}  // namespace

BodyCoding CodingOf(const HttpRequest& request) {
  const size_t count = request.CountOf(kEncoding);
  if (count == 0) return BodyCoding::kPlain;
  if (count > 1) return BodyCoding::kUnknown;
  const absl::string_view encoding = request.Header(kEncoding);
  if (absl::EqualsIgnoreCase(encoding, "identity")) return BodyCoding::kPlain;
  if (absl::EqualsIgnoreCase(encoding, "deflate")) return BodyCoding::kDeflate;
  const bool is_gzip =
      absl::EqualsIgnoreCase(encoding, "gzip") || absl::EqualsIgnoreCase(encoding, "x-gzip");
  return is_gzip ? BodyCoding::kGzip : BodyCoding::kUnknown;
}

absl::Status CheckCoding(BodyCoding coding, bool allowed) {
  if (coding == BodyCoding::kPlain) return absl::OkStatus();
  if (!allowed) return absl::UnimplementedError("a compressed body is not taken here");
  if (coding != BodyCoding::kUnknown) return absl::OkStatus();
  return absl::UnimplementedError("the Content-Encoding must be gzip or deflate");
}

}  // namespace mpsd
