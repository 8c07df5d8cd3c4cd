#include "load_tests/generator/grpc_message.h"

#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/base/check.h"

namespace mpsd::load {
namespace {

constexpr size_t kHeadBytes = 5;

}  // namespace

std::string Framed(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  MPSD_CHECK(message.Dump(&slices).ok());
  std::string framed(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    framed.push_back(static_cast<char>(message.Length() >> shift & 0xff));
  }
  for (const grpc::Slice& slice : slices) {
    framed.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return framed;
}

std::optional<absl::string_view> Unframed(absl::string_view bytes) {
  if (bytes.size() < kHeadBytes || bytes[0] != '\0') return std::nullopt;
  uint32_t size = 0;
  for (size_t i = 1; i < kHeadBytes; ++i) size = size << 8 | static_cast<uint8_t>(bytes[i]);
  bytes.remove_prefix(kHeadBytes);
  if (bytes.size() != size) return std::nullopt;
  return bytes;
}

}  // namespace mpsd::load
