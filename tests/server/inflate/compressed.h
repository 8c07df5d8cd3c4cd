// Messages as clients compress them, and marked as gRPC marks them when they arrive.
#pragma once

#include <grpc/byte_buffer.h>
#include <grpc/compression.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <zlib.h>

#include <string>

#include "proto/base/check.h"

namespace mpsd {

// One gzip member, or one zlib stream, of all of `text`.
inline std::string Compressed(const std::string& text, grpc_compression_algorithm algorithm) {
  z_stream stream{};
  const int window = algorithm == GRPC_COMPRESS_GZIP ? MAX_WBITS | 16 : MAX_WBITS;
  MPSD_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  MPSD_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

// Thread-compatible. Says of the buffer's bytes that they are compressed, which nobody but gRPC's
// core can otherwise.
class EncodingMark final : public grpc::ProtoBufferReader {
 public:
  EncodingMark(grpc::ByteBuffer* buffer, grpc_compression_algorithm algorithm)
      : ProtoBufferReader(buffer) {
    reader()->buffer_in->data.raw.compression = algorithm;
  }
};

}  // namespace mpsd
