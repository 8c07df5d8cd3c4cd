#include "server/door/grpc_messages.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/door/grpc_form.h"

namespace mpsd {
namespace {

// A larger message that is most of the collected bytes is not copied.
constexpr size_t kCopiedBytes = 16 << 10;
// A message's room grows so, up to the message and a piece.
constexpr size_t kGrowth = 8;
constexpr size_t kPieceBytes = 64 << 10;

}  // namespace

void GrpcMessages::Add(std::string piece) {
  if (begin_ == bytes_.size()) {
    bytes_ = std::move(piece);
  } else {
    bytes_.erase(0, begin_);
    const size_t bytes = bytes_.size() + piece.size();
    if (bytes > bytes_.capacity()) {
      bytes_.reserve(std::max(bytes, std::min(kGrowth * bytes, wanted_ + kPieceBytes)));
    }
    bytes_.append(piece);
  }
  begin_ = 0;
}

absl::StatusOr<std::optional<GrpcPiece>> GrpcMessages::Next() {
  const absl::string_view rest = absl::string_view(bytes_).substr(begin_);
  if (rest.size() < kGrpcPrefixBytes) return std::nullopt;
  const uint64_t length = GrpcLength(rest);
  const absl::StatusOr<bool> is_compressed = IsCompressed(rest[0], coding_);
  if (!is_compressed.ok()) return is_compressed.status();
  if (length > message_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("Received message larger than max (", length, " vs. ", message_bytes_, ")"));
  }
  wanted_ = kGrpcPrefixBytes + length;
  if (rest.size() < wanted_) return std::nullopt;
  return Take(length, *is_compressed && length > 0);
}

absl::StatusOr<std::optional<GrpcPiece>> GrpcMessages::NextOf(HttpCall* call) {
  for (;;) {
    absl::StatusOr<std::optional<GrpcPiece>> message = Next();
    if (!message.ok() || message->has_value()) return message;
    std::string piece = call->TakeBody();
    if (piece.empty()) return std::nullopt;
    Add(std::move(piece));
  }
}

GrpcPiece GrpcMessages::Take(size_t length, bool is_compressed) {
  GrpcPiece piece;
  piece.is_compressed = is_compressed;
  piece.wire_bytes = kGrpcPrefixBytes + length;
  const size_t end = begin_ + piece.wire_bytes;
  if (length > kCopiedBytes && length > bytes_.size() / 2) {
    std::string rest = bytes_.substr(end);
    bytes_.resize(end);
    piece.bytes = std::exchange(bytes_, std::move(rest));
    piece.begin = std::exchange(begin_, 0) + kGrpcPrefixBytes;
    return piece;
  }
  piece.bytes = bytes_.substr(end - length, length);
  begin_ = end;
  return piece;
}

}  // namespace mpsd
