#include "worker/model/elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mpsd {
namespace {

using testing::ElementsAre;

TEST(StringElements, ComeBackAsTheyWere) {
  const std::vector<std::string> elements = {"", std::string("a\0b", 3), "\xff\xfe"};
  std::string bytes(ElementsBytes(elements), '\0');
  ASSERT_EQ(bytes.size(), 3 * 4 + 5u);
  WriteElements(elements, bytes.data());
  const auto read = ReadElements(bytes.data(), bytes.size(), 3);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(*read, ElementsAre("", absl::string_view("a\0b", 3), "\xff\xfe"));
}

TEST(StringElements, MustFillTheirBytes) {
  const std::vector<std::string> elements = {"ab", "c"};
  std::string bytes(ElementsBytes(elements), '\0');
  WriteElements(elements, bytes.data());
  EXPECT_FALSE(ReadElements(bytes.data(), bytes.size(), 1).ok()) << "one too many";
  EXPECT_FALSE(ReadElements(bytes.data(), bytes.size(), 3).ok()) << "one too few";
  EXPECT_FALSE(ReadElements(bytes.data(), bytes.size() - 1, 2).ok()) << "an element cut short";
  EXPECT_FALSE(ReadElements(bytes.data(), 8, 2).ok()) << "a length cut short";
  EXPECT_TRUE(ReadElements(nullptr, 0, 0).ok());
}

TEST(Elements, FourDatatypesAreFloats) {
  int floats = 0;
  for (uint32_t i = 0; i < kDataTypeCount; ++i) floats += IsFloat(static_cast<DataType>(i)) ? 1 : 0;
  EXPECT_EQ(floats, 4);
  EXPECT_TRUE(IsFloat(DataType::kBf16));
  EXPECT_FALSE(IsFloat(DataType::kInt64));
  EXPECT_FALSE(IsFloat(DataType::kBytes));
}

}  // namespace
}  // namespace mpsd
