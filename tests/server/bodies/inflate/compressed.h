// Messages as clients compress them.
#pragma once

#include <zlib.h>

#include <string>

#include "proto/base/check.h"
#include "server/bodies/inflate/inflate_stream.h"

namespace mpsd {

// One gzip member, or one zlib stream, of all of `text`.
inline std::string Compressed(const std::string& text, CompressedForm form) {
  z_stream stream{};
  const int window = form == CompressedForm::kGzip ? MAX_WBITS | 16 : MAX_WBITS;
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

}  // namespace mpsd
