#include "server/admit/string_elements.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/shape.h"

namespace mpsd {
namespace {

// A cursor over the pieces. REQUIRES of Length() and Skip(): that many bytes are left.
class PieceReader {
 public:
  explicit PieceReader(const Payload& payload) : payload_(payload), left_(payload.bytes) {}

  uint64_t left() const { return left_; }

  uint32_t Length() {
    char bytes[sizeof(uint32_t)];
    for (char& byte : bytes) {
      byte = payload_.pieces[piece_][offset_];
      Skip(1);
    }
    uint32_t length = 0;
    std::memcpy(&length, bytes, sizeof(length));
    return length;
  }

  void Skip(uint64_t bytes) {
    MPSD_CHECK(bytes <= left_);
    left_ -= bytes;
    while (bytes > 0) {
      const uint64_t step = std::min<uint64_t>(bytes, payload_.pieces[piece_].size() - offset_);
      offset_ += step;
      bytes -= step;
      if (offset_ < payload_.pieces[piece_].size()) continue;
      ++piece_;
      offset_ = 0;
    }
  }

 private:
  const Payload& payload_;
  uint64_t left_;
  size_t piece_ = 0;
  size_t offset_ = 0;
};

template <typename... Words>
absl::Status Malformed(const Words&... words) {
  return absl::InvalidArgumentError(absl::StrCat(words...));
}

}  // namespace

absl::Status CheckStrings(const Payload& payload, absl::string_view input,
                          absl::Span<const int64_t> dims) {
  const std::optional<uint64_t> expected = ElementCount(dims);
  if (!expected.has_value()) {
    return Malformed("input '", input, "' is larger than any tensor can be");
  }
  PieceReader reader(payload);
  uint64_t count = 0;
  while (reader.left() >= sizeof(uint32_t)) {
    if (count == *expected) {
      return Malformed("unexpected number of string elements ", count + 1, " for inference input '",
                       input, "', expecting ", *expected);
    }
    const uint32_t length = reader.Length();
    if (length > reader.left()) {
      return Malformed("incomplete string data for inference input '", input,
                       "', expecting string of length ", length, " but only ", reader.left(),
                       " bytes available");
    }
    reader.Skip(length);
    ++count;
  }
  if (reader.left() > 0) {
    return Malformed("incomplete string length indicator for inference input '", input,
                     "', expecting ", sizeof(uint32_t), " bytes but only ", reader.left(),
                     " bytes available");
  }
  if (count == *expected) return absl::OkStatus();
  return Malformed("expected ", *expected, " string elements for inference input '", input,
                   "', got ", count);
}

}  // namespace mpsd
