// Inflating in slices and pieces, within a limit, against zlib's own inflating of the same bytes at
// once: the same verdict, the same bytes.
#include <zlib.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "proto/base/check.h"
#include "server/inflate/inflater.h"
#include "tests/server/inflate/compressed.h"
#include "tests/server/wire/slices.h"

namespace mpsd {
namespace {

// Some pieces of the sizes that the inflater takes.
constexpr uint64_t kLimitBytes = 100'000;

// What the bytes are inflated to; nothing when they are not one whole stream, or it is too large.
std::optional<std::string> AtOnce(const std::string& bytes, grpc_compression_algorithm algorithm) {
  if (bytes.empty()) return std::string();
  z_stream stream{};
  const int window = algorithm == GRPC_COMPRESS_GZIP ? MAX_WBITS | 16 : MAX_WBITS;
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

void Inflate(const std::string& bytes, grpc_compression_algorithm algorithm, size_t longest_slice) {
  std::mt19937 random(7);
  Inflater inflater(kLimitBytes, kLimitBytes);
  grpc::ByteBuffer message = InSlices(bytes, longest_slice, &random);
  EncodingMark(&message, algorithm);
  const std::optional<std::string> expected = AtOnce(bytes, algorithm);
  const absl::Status status = inflater.Inflate(&message, "client");
  MPSD_CHECK(status.ok() == expected.has_value());
  MPSD_CHECK(AllBytes(message) == expected.value_or(bytes));
  MPSD_CHECK(inflater.held_bytes() <= kLimitBytes);
  MPSD_CHECK(status.ok() || inflater.held_bytes() == 0);
  message.Clear();
  MPSD_CHECK(inflater.held_bytes() == 0);
}

}  // namespace
}  // namespace mpsd

// The first byte says which format it is, and into how large pieces the transport cut the rest.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  mpsd::Inflate(std::string(reinterpret_cast<const char*>(data + 1), bytes - 1),
                (data[0] & 1) != 0 ? GRPC_COMPRESS_GZIP : GRPC_COMPRESS_DEFLATE, 1 + data[0] / 2);
  return 0;
}
