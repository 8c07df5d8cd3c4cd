// Byte buffers in pieces, as a transport delivers them.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace mpsd {

// `bytes` in slices of at most `longest` bytes, cut at random points.
inline grpc::ByteBuffer InSlices(const std::string& bytes, size_t longest, std::mt19937* random) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size();) {
    const size_t step = std::min<size_t>((*random)() % (longest + 1), bytes.size() - at);
    slices.emplace_back(bytes.data() + at, step);
    at += step;
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

inline grpc::ByteBuffer InOneSlice(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

inline std::string AllBytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace mpsd
