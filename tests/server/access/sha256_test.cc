#include "server/access/sha256.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"

namespace mpsd {
namespace {

std::string Hex(absl::string_view text) {
  const Sha256Digest digest = Sha256(text).value();
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

// The vectors of FIPS 180-2.
TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfSeveralTextsIsThatOfAllInOne) {
  EXPECT_EQ(Sha256({"a", "", "bc"}), Sha256("abc"));
  EXPECT_EQ(Sha256(absl::Span<const absl::string_view>()), Sha256(""));
}

TEST(Sha256, EqualMeansEveryByte) {
  const Sha256Digest digest = Sha256("x").value();
  EXPECT_TRUE(EqualInConstantTime(digest, digest));
  for (size_t i = 0; i < digest.size(); ++i) {
    Sha256Digest other = digest;
    other[i] ^= 1;
    EXPECT_FALSE(EqualInConstantTime(digest, other)) << i;
  }
}

}  // namespace
}  // namespace mpsd
