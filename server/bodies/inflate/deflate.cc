#include "server/bodies/inflate/deflate.h"

#include <zlib.h>

#include <limits>

namespace mpsd {
namespace {

constexpr int kUsualMemory = 8;  // zlib's default
constexpr int kGzip = 16;        // zlib's code, added to the window

// zlib counts by `uInt`. A result beyond `room` is of no use.
bool Fill(z_stream* stream, absl::string_view plain, char* room, size_t bytes) {
  stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream->avail_in = static_cast<uInt>(plain.size());
  stream->next_out = reinterpret_cast<Bytef*>(room);
  stream->avail_out = static_cast<uInt>(bytes);
  return deflate(stream, Z_FINISH) == Z_STREAM_END;
}

}  // namespace

bool Deflate(CompressedForm form, absl::string_view plain, std::string* to) {
  if (plain.empty() || plain.size() > std::numeric_limits<uInt>::max()) return false;
  z_stream stream{};
  const int window = MAX_WBITS | (form == CompressedForm::kGzip ? kGzip : 0);
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window, kUsualMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return false;
  }
  const size_t before = to->size();
  to->resize(before + plain.size() - 1);
  const bool is_shorter = Fill(&stream, plain, to->data() + before, plain.size() - 1);
  to->resize(before + (is_shorter ? stream.total_out : 0));
  deflateEnd(&stream);
  return is_shorter;
}

}  // namespace mpsd
