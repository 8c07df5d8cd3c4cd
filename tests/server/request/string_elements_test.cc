#include "server/request/string_elements.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace mpsd {
namespace {

std::string Element(const std::string& text) {
  const auto length = static_cast<uint32_t>(text.size());
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + text;
}

// The verdict on these bytes in one piece, "ok" when they are taken.
std::string Said(const std::string& bytes, std::vector<int64_t> dims) {
  Payload payload;
  payload.Append(bytes);
  const absl::Status status = CheckStrings(payload, "x", "m", dims);
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument);
  return status.ok() ? "ok" : std::string(status.message());
}

TEST(StringElements, AsManyAsTheShapeSaysAreTaken) {
  EXPECT_EQ(Said(Element("a") + Element("") + Element(std::string(1000, 'b')), {3}), "ok");
  EXPECT_EQ(Said(Element("a") + Element("b"), {1, 2, 1}), "ok");
  EXPECT_EQ(Said(Element(""), {}), "ok");
  EXPECT_EQ(Said("", {4, 0}), "ok");
}

TEST(StringElements, TooFew) {
  EXPECT_EQ(Said(Element("a"), {2}),
            "expected 2 string elements for inference input 'x' for model 'm', got 1");
  EXPECT_EQ(Said("", {1}),
            "expected 1 string elements for inference input 'x' for model 'm', got 0");
  EXPECT_EQ(Said(Element("a"), {int64_t{1} << 40}),
            "expected 1099511627776 string elements for inference input 'x' for model 'm', got 1");
}

TEST(StringElements, TooMany) {
  EXPECT_EQ(
      Said(Element("a") + Element("b"), {1}),
      "unexpected number of string elements 2 for inference input 'x' for model 'm', expecting 1");
  EXPECT_EQ(
      Said(Element(""), {0}),
      "unexpected number of string elements 1 for inference input 'x' for model 'm', expecting 0");
}

TEST(StringElements, ALengthThatIsCutOff) {
  EXPECT_EQ(Said(Element("a") + std::string(3, '\0'), {2}),
            "incomplete string length indicator for inference input 'x' for model 'm', expecting 4 "
            "bytes but only "
            "3 bytes available");
}

TEST(StringElements, AnElementThatIsCutOff) {
  EXPECT_EQ(Said(Element("abc").substr(0, 6), {1}),
            "incomplete string data for inference input 'x' for model 'm', expecting string of "
            "length 3 but only 2 "
            "bytes available");
  EXPECT_EQ(Said("\xff\xff\xff\xff", {1}),
            "incomplete string data for inference input 'x' for model 'm', expecting string of "
            "length 4294967295 "
            "but only 0 bytes available");
}

TEST(StringElements, AShapeThatOverflowsIsRefused) {
  const int64_t huge = int64_t{1} << 62;
  EXPECT_EQ(Said("", {huge, huge}), "input 'x' is larger than any tensor can be");
}

// Wherever the transport parts the bytes, a length in its middle too, the outcome is the same.
TEST(StringElements, PiecesOfAnyLengthSayTheSame) {
  std::mt19937 random(11);
  std::string whole;
  for (uint32_t i = 0; i < 6; ++i) whole += Element(std::string(i * 3, 'x'));
  for (const size_t bytes : {whole.size(), whole.size() - 1, whole.size() - 17}) {
    const std::string text = whole.substr(0, bytes);
    const std::string expected = Said(text, {6});
    for (int round = 0; round < 200; ++round) {
      Payload payload;
      for (size_t at = 0; at < text.size();) {
        const size_t step = random() % 5;
        payload.Append(absl::string_view(text).substr(at, step));
        at += step;
      }
      const absl::Status status = CheckStrings(payload, "x", "m", {6});
      EXPECT_EQ(status.ok() ? "ok" : std::string(status.message()), expected);
    }
  }
}

TEST(StringElements, AreReadAcrossPieces) {
  const std::string bytes = Element("hello") + Element("") + Element("hi");
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    Payload payload;
    payload.Append(absl::string_view(bytes).substr(0, cut));
    payload.Append(absl::string_view(bytes).substr(cut));
    EXPECT_EQ(ReadStrings(payload), (std::vector<std::string>{"hello", "", "hi"})) << cut;
  }
}

}  // namespace
}  // namespace mpsd
