#include "server/inflate/inflater.h"

#include <grpc/byte_buffer.h>
#include <grpc/compression.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "server/inflate/inflate_bounds.h"
#include "server/inflate/inflate_stream.h"

namespace mpsd {
namespace {

// gRPC's C++ reveals a message's compression only to a reader of its bytes.
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

// One piece of an inflated message. Owned by the slice made from it.
struct Piece {
  std::unique_ptr<char[]> bytes;
  uint64_t size;
  uint64_t client;
  HeldBytes* held;  // counts this piece among all messages
};

void ReleasePiece(void* user_data) {
  const auto* piece = static_cast<Piece*>(user_data);
  piece->held->GiveBack(piece->client, piece->size);
  delete piece;
}

// Collects the plain bytes of one message as they come out. Thread-compatible.
class SliceSink final : public InflateSink {
 public:
  SliceSink(uint64_t source_bytes, uint64_t client, HeldBytes* held)
      : client_(client), held_(held), next_bytes_(FirstRoomBytes(source_bytes)) {}

  absl::StatusOr<absl::Span<char>> Grow(uint64_t most) override {
    TakePiece();
    const uint64_t size = std::min(next_bytes_, most);
    if (!held_->TryTake(client_, size)) return TooManyInflated();
    next_bytes_ = NextRoomBytes(next_bytes_);
    piece_.reset(new Piece{std::make_unique_for_overwrite<char[]>(size), size, client_, held_});
    return absl::Span<char>(piece_->bytes.get(), size);
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
    Piece* const piece = piece_.release();
    slices_.emplace_back(piece->bytes.get(), used, ReleasePiece, piece);
  }

  const uint64_t client_;
  HeldBytes* const held_;
  std::vector<grpc::Slice> slices_;
  std::unique_ptr<Piece, Release> piece_;  // being filled
  uint64_t unused_bytes_ = 0;
  uint64_t next_bytes_;
};

// The views live as long as the slices.
std::vector<absl::string_view> ViewsOf(const std::vector<grpc::Slice>& slices) {
  std::vector<absl::string_view> views;
  views.reserve(slices.size());
  for (const grpc::Slice& slice : slices) {
    views.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return views;
}

}  // namespace

bool Inflater::IsCompressed(grpc::ByteBuffer* message) {
  return EncodingOf(message) != GRPC_COMPRESS_NONE;
}

absl::Status Inflater::Inflate(grpc::ByteBuffer* message, absl::string_view client) {
  const grpc_compression_algorithm algorithm = EncodingOf(message);
  if (algorithm == GRPC_COMPRESS_NONE) return absl::OkStatus();
  SliceSink sink(message->Length(), absl::HashOf(client), bounds_.held);
  uint64_t unused_bytes = 0;
  // No bytes at all are an empty message, as in gRPC.
  if (message->Length() > 0) {
    std::vector<grpc::Slice> slices;
    if (!message->Dump(&slices).ok()) {
      return absl::InvalidArgumentError("the bytes of the compressed message are not there");
    }
    const CompressedForm form =
        algorithm == GRPC_COMPRESS_GZIP ? CompressedForm::kGzip : CompressedForm::kDeflate;
    const absl::Status status =
        InflateStream(form, ViewsOf(slices), bounds_.message_bytes, &sink, &unused_bytes);
    if (!status.ok()) return status;
  }
  grpc::ByteBuffer plain = sink.Finish(unused_bytes);
  message->Swap(&plain);
  return absl::OkStatus();
}

}  // namespace mpsd
