#include "server/inflate/inflater.h"

#include <grpc/byte_buffer.h>
#include <grpc/compression.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

// The size of the first piece follows from the compressed size, which is all that is known. Each
// further piece is twice as large as the one before.
constexpr uint64_t kSmallestPieceBytes = 1 << 10;
constexpr uint64_t kLargestFirstPieceBytes = 16 << 10;
constexpr uint64_t kLargestPieceBytes = 1 << 20;
constexpr uint64_t kUsualRatio = 4;
constexpr int kGzipWindow = MAX_WBITS | 16;  // zlib's way to say that the format is gzip's
constexpr int kZlibWindow = MAX_WBITS;

// gRPC's C++ tells the compression of a message only to a reader of its bytes.
class EncodingReader final : public grpc::ProtoBufferReader {
 public:
  explicit EncodingReader(grpc::ByteBuffer* message) : ProtoBufferReader(message) {}

  grpc_compression_algorithm encoding() {
    if (!status().ok()) return GRPC_COMPRESS_NONE;
    return reader()->buffer_in->data.raw.compression;
  }
};

grpc_compression_algorithm EncodingOf(grpc::ByteBuffer* message) {
  return message->Valid() ? EncodingReader(message).encoding() : GRPC_COMPRESS_NONE;
}

// One piece of an inflated message. Owned by the slice made of it.
struct Piece {
  std::unique_ptr<char[]> bytes;
  uint64_t size;
  uint64_t client;
  HeldBytes* held;  // of all messages; counts this piece
};

void ReleasePiece(void* user_data) {
  const auto* piece = static_cast<Piece*>(user_data);
  piece->held->GiveBack(piece->client, piece->size);
  delete piece;
}

// Collects the plain bytes of one message as they come out. Thread-compatible.
class Target {
 public:
  Target(uint64_t source_bytes, uint64_t limit_bytes, uint64_t client, HeldBytes* held)
      : limit_bytes_(limit_bytes),
        client_(client),
        held_(held),
        next_bytes_(
            std::clamp(kUsualRatio * source_bytes, kSmallestPieceBytes, kLargestFirstPieceBytes)) {}

  // Gives `stream` room for more bytes. A message that has reached its limit gets room for one byte
  // that is thrown away: the end of the stream may still have to be read, and yields no byte.
  absl::Status Grow(z_stream* stream) {
    TakePiece();
    const uint64_t left = limit_bytes_ - taken_bytes_;
    if (left == 0) {
      stream->next_out = &spare_;
      stream->avail_out = 1;
      return absl::OkStatus();
    }
    const uint64_t size = std::min(next_bytes_, left);
    if (!held_->TryTake(client_, size)) {
      return Busy("too many compressed messages are being inflated");
    }
    next_bytes_ = std::min(2 * next_bytes_, kLargestPieceBytes);
    piece_.reset(new Piece{std::make_unique_for_overwrite<char[]>(size), size, client_, held_});
    stream->next_out = reinterpret_cast<Bytef*>(piece_->bytes.get());
    stream->avail_out = static_cast<uInt>(size);
    return absl::OkStatus();
  }

  // The whole message. `unused_bytes` of the last piece stayed empty.
  grpc::ByteBuffer Finish(uint64_t unused_bytes) {
    unused_bytes_ = unused_bytes;
    TakePiece();
    return grpc::ByteBuffer(slices_.data(), slices_.size());
  }

 private:
  struct Release {
    void operator()(Piece* piece) const { ReleasePiece(piece); }
  };

  void TakePiece() {
    if (piece_ == nullptr) return;
    MPSD_CHECK(unused_bytes_ <= piece_->size);
    const uint64_t used = piece_->size - unused_bytes_;
    if (used == 0) return piece_.reset();
    taken_bytes_ += used;
    Piece* const piece = piece_.release();
    slices_.emplace_back(piece->bytes.get(), used, ReleasePiece, piece);
  }

  const uint64_t limit_bytes_;
  const uint64_t client_;
  HeldBytes* const held_;
  std::vector<grpc::Slice> slices_;
  std::unique_ptr<Piece, Release> piece_;  // that is being filled
  uint64_t unused_bytes_ = 0;
  uint64_t taken_bytes_ = 0;
  uint64_t next_bytes_;
  Bytef spare_ = 0;
};

absl::Status Unreadable(grpc_compression_algorithm algorithm, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("the message cannot be inflated as ",
                   algorithm == GRPC_COMPRESS_GZIP ? "gzip" : "deflate", ": ", why));
}

// Feeds one message to zlib. Thread-compatible.
class ZlibReader {
 public:
  ZlibReader(grpc_compression_algorithm algorithm, uint64_t message_bytes, Target* target)
      : algorithm_(algorithm), message_bytes_(message_bytes), target_(target) {
    ready_ = inflateInit2(&stream_, algorithm == GRPC_COMPRESS_GZIP ? kGzipWindow : kZlibWindow);
  }
  ~ZlibReader() {
    if (ready_ == Z_OK) inflateEnd(&stream_);
  }
  ZlibReader(const ZlibReader&) = delete;
  ZlibReader& operator=(const ZlibReader&) = delete;

  absl::Status ReadAll(const std::vector<grpc::Slice>& slices) {
    if (ready_ != Z_OK) return NoMemory();
    for (const grpc::Slice& slice : slices) {
      // zlib does not write to it; its interface lacks the const.
      stream_.next_in = const_cast<Bytef*>(slice.begin());
      stream_.avail_in = static_cast<uInt>(slice.size());
      if (absl::Status status = ReadSlice(); !status.ok()) return status;
    }
    return at_end_ ? absl::OkStatus() : Unreadable(algorithm_, "it ends too early");
  }

  uint64_t unused_bytes() const { return stream_.avail_out; }

 private:
  static absl::Status NoMemory() { return Busy("there is no memory to inflate the message"); }

  // Reads all of the slice. Both formats end in a checksum, so bytes of the stream always follow
  // the last plain byte: when the input is used up, zlib holds no plain byte back.
  absl::Status ReadSlice() {
    while (!at_end_ && stream_.avail_in > 0) {
      if (stream_.avail_out == 0) {
        if (absl::Status status = target_->Grow(&stream_); !status.ok()) return status;
      }
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (stream_.total_out > message_bytes_) return TooLarge();
      if (result == Z_MEM_ERROR) return NoMemory();
      at_end_ = result == Z_STREAM_END;
      if (!at_end_ && result != Z_OK) {
        return Unreadable(algorithm_,
                          stream_.msg == nullptr ? "it needs a dictionary" : stream_.msg);
      }
    }
    return stream_.avail_in == 0 ? absl::OkStatus()
                                 : Unreadable(algorithm_, "bytes follow its end");
  }

  // The text is what gRPC says of a plain message. The whole size is not known.
  absl::Status TooLarge() const {
    return absl::ResourceExhaustedError(absl::StrCat(
        "Received message larger than max (", stream_.total_out, " vs. ", message_bytes_, ")"));
  }

  const grpc_compression_algorithm algorithm_;
  const uint64_t message_bytes_;
  Target* const target_;
  z_stream stream_{};
  int ready_ = Z_OK;
  bool at_end_ = false;
};

}  // namespace

bool Inflater::IsCompressed(grpc::ByteBuffer* message) {
  return EncodingOf(message) != GRPC_COMPRESS_NONE;
}

absl::Status Inflater::Inflate(grpc::ByteBuffer* message, absl::string_view client) {
  const grpc_compression_algorithm algorithm = EncodingOf(message);
  if (algorithm == GRPC_COMPRESS_NONE) return absl::OkStatus();
  Target target(message->Length(), message_bytes_, absl::HashOf(client), &held_);
  uint64_t unused_bytes = 0;
  // No bytes at all are an empty message, for gRPC too.
  if (message->Length() > 0) {
    std::vector<grpc::Slice> slices;
    if (!message->Dump(&slices).ok()) return Unreadable(algorithm, "its bytes are not there");
    ZlibReader reader(algorithm, message_bytes_, &target);
    if (absl::Status status = reader.ReadAll(slices); !status.ok()) return status;
    unused_bytes = reader.unused_bytes();
  }
  grpc::ByteBuffer plain = target.Finish(unused_bytes);
  message->Swap(&plain);
  return absl::OkStatus();
}

}  // namespace mpsd
