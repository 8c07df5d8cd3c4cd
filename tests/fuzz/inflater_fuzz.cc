// Inflating piece by piece, within a limit, against zlib's own inflating of the same bytes at once:
// the same verdict, the same bytes.
#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>

#include "proto/base/check.h"
#include "server/bodies/inflate/inflated_body.h"

namespace mpsd {
namespace {

// Some pieces of the sizes in which the plain bytes grow.
constexpr uint64_t kLimitBytes = 100'000;

// The inflated bytes; nothing when they are not one whole stream, or it is too large.
std::optional<std::string> AtOnce(const std::string& bytes, CompressedForm form) {
  z_stream stream{};
  const int window = form == CompressedForm::kGzip ? MAX_WBITS | 16 : MAX_WBITS;
  MPSD_CHECK(inflateInit2(&stream, window) == Z_OK);
  std::string plain(kLimitBytes + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0;
  plain.resize(stream.total_out);
  inflateEnd(&stream);
  if (!whole || plain.size() > kLimitBytes) return std::nullopt;
  return plain;
}

void Inflate(const std::string& bytes, CompressedForm form) {
  HeldBytes held(kLimitBytes, kLimitBytes);
  InflatedBody body({kLimitBytes, &held});
  const std::optional<std::string> expected = AtOnce(bytes, form);
  const absl::Status status = body.Inflate(form, bytes, "client");
  MPSD_CHECK(status.ok() == expected.has_value());
  MPSD_CHECK(body.Take() == expected.value_or(""));
  MPSD_CHECK(held.taken_bytes() == (status.ok() ? expected->size() : 0));
  body.Drop();
  MPSD_CHECK(held.taken_bytes() == 0);
}

}  // namespace
}  // namespace mpsd

// The lowest bit of the first byte says which format it is.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  mpsd::Inflate(std::string(reinterpret_cast<const char*>(data + 1), bytes - 1),
                (data[0] & 1) != 0 ? mpsd::CompressedForm::kGzip : mpsd::CompressedForm::kDeflate);
  return 0;
}
