#include "server/door/grpc_messages.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/door/grpc_form.h"

namespace mpsd {
namespace {

// A larger message that is most of the collected bytes is not copied out of them.
constexpr size_t kCopiedBytes = 16 << 10;

}  // namespace

void GrpcMessages::Add(std::string piece) {
  if (begin_ == bytes_.size()) {
    bytes_ = std::move(piece);
  } else {
    bytes_.erase(0, begin_);
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
  if (rest.size() - kGrpcPrefixBytes < length) return std::nullopt;
  return Take(length, *is_compressed && length > 0);
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
