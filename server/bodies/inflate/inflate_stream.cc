#include "server/bodies/inflate/inflate_stream.h"

#include <zlib.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

constexpr uint64_t kSmallestRoomBytes = 1 << 10;
constexpr uint64_t kLargestFirstRoomBytes = 16 << 10;
constexpr uint64_t kLargestRoomBytes = 1 << 20;
constexpr uint64_t kUsualRatio = 4;
constexpr int kGzipWindow = MAX_WBITS | 16;  // zlib's code for gzip
constexpr int kZlibWindow = MAX_WBITS;

// Feeds one message to zlib. Thread-compatible.
class ZlibReader {
 public:
  ZlibReader(CompressedForm form, uint64_t message_bytes, InflateSink* sink)
      : form_(form), message_bytes_(message_bytes), sink_(sink) {
    ready_ = inflateInit2(&stream_, form == CompressedForm::kGzip ? kGzipWindow : kZlibWindow);
  }
  ~ZlibReader() {
    if (ready_ == Z_OK) inflateEnd(&stream_);
  }
  ZlibReader(const ZlibReader&) = delete;
  ZlibReader& operator=(const ZlibReader&) = delete;

  // Both formats end in a checksum, so zlib holds back no plain byte when the input is used up.
  absl::Status Read(absl::string_view compressed) {
    if (ready_ != Z_OK) return NoMemory();
    // zlib's interface lacks the const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
    stream_.avail_in = static_cast<uInt>(compressed.size());
    while (!at_end_ && stream_.avail_in > 0) {
      if (absl::Status status = Step(); !status.ok()) return status;
    }
    if (!at_end_) return Unreadable("it ends too early");
    return stream_.avail_in == 0 ? absl::OkStatus() : Unreadable("bytes follow its end");
  }

  uint64_t unused_bytes() const { return has_spare_ ? 0 : stream_.avail_out; }

 private:
  static absl::Status NoMemory() { return Busy("there is no memory to inflate the message"); }

  absl::Status Unreadable(absl::string_view why) const {
    return absl::InvalidArgumentError(
        absl::StrCat("the message cannot be inflated as ",
                     form_ == CompressedForm::kGzip ? "gzip" : "deflate", ": ", why));
  }

  absl::Status Step() {
    if (stream_.avail_out == 0) {
      if (absl::Status status = Grow(); !status.ok()) return status;
    }
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (stream_.total_out > message_bytes_) return TooLarge();
    if (result == Z_MEM_ERROR) return NoMemory();
    at_end_ = result == Z_STREAM_END;
    if (at_end_ || result == Z_OK) return absl::OkStatus();
    return Unreadable(stream_.msg == nullptr ? "it needs a dictionary" : stream_.msg);
  }

  // At its bound a message gets room for one discarded byte: the rest of the stream may yield none.
  absl::Status Grow() {
    const uint64_t left = message_bytes_ - stream_.total_out;
    has_spare_ = left == 0;
    if (has_spare_) {
      stream_.next_out = &spare_;
      stream_.avail_out = 1;
      return absl::OkStatus();
    }
    const absl::StatusOr<absl::Span<char>> room = sink_->Grow(left);
    if (!room.ok()) return room.status();
    stream_.next_out = reinterpret_cast<Bytef*>(room->data());
    stream_.avail_out = static_cast<uInt>(room->size());
    return absl::OkStatus();
  }

  // gRPC's own text for a plain message. The whole size is not known.
  absl::Status TooLarge() const {
    return absl::ResourceExhaustedError(absl::StrCat(
        "Received message larger than max (", stream_.total_out, " vs. ", message_bytes_, ")"));
  }

  const CompressedForm form_;
  const uint64_t message_bytes_;
  InflateSink* const sink_;
  z_stream stream_{};
  int ready_ = Z_OK;
  bool at_end_ = false;
  bool has_spare_ = false;
  Bytef spare_ = 0;
};

}  // namespace

absl::Status InflateStream(CompressedForm form, absl::string_view compressed,
                           uint64_t message_bytes, InflateSink* sink, uint64_t* unused_bytes) {
  ZlibReader reader(form, message_bytes, sink);
  const absl::Status status = reader.Read(compressed);
  *unused_bytes = reader.unused_bytes();
  return status;
}

uint64_t FirstRoomBytes(uint64_t compressed_bytes) {
  const uint64_t usual_bytes = std::min(compressed_bytes, kLargestFirstRoomBytes) * kUsualRatio;
  return std::clamp(usual_bytes, kSmallestRoomBytes, kLargestFirstRoomBytes);
}

uint64_t NextRoomBytes(uint64_t bytes) { return std::min(2 * bytes, kLargestRoomBytes); }

}  // namespace mpsd
