#include "server/http/http_body.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

TEST(HttpBody, AnAnnouncedBodyReservesOnlyItsBeginning) {
  HttpBody body;
  body.Announce(size_t{64} << 20);
  EXPECT_LT(body.Take().capacity(), 2 * HttpBody::kFirstBytes);
}

TEST(HttpBody, GrowsToWhatWasAnnouncedWithRoomBehindIt) {
  constexpr size_t kPiece = 256 << 10;
  constexpr size_t kPieces = 9;  // so that doubling alone ends without room
  HttpBody body;
  body.Announce(kPieces * kPiece);
  std::string wanted;
  for (size_t i = 0; i < kPieces; ++i) {
    const std::string piece(kPiece, static_cast<char>('a' + i));
    const absl::Span<char> room = body.Room(kPiece);
    ASSERT_EQ(room.size(), kPiece);
    piece.copy(room.data(), kPiece);
    body.Grow(kPiece);
    wanted += piece;
  }
  const std::string bytes = body.Take();
  EXPECT_TRUE(bytes == wanted);
  EXPECT_GE(bytes.capacity(), wanted.size() + HttpBody::kPadding);
  EXPECT_EQ(body.size(), 0U);
}

}  // namespace
}  // namespace mpsd
