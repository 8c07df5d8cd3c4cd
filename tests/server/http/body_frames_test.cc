#include "server/http/body_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace mpsd {
namespace {

constexpr uint32_t kStream = 7;
constexpr size_t kFrame = 16 << 10;

std::string Frame(const std::string& payload, char kind = 0, char flags = 0,
                  uint32_t stream = kStream) {
  std::string frame;
  for (const int shift : {16, 8, 0}) frame.push_back(static_cast<char>(payload.size() >> shift));
  frame += {kind, flags};
  for (const int shift : {24, 16, 8, 0}) frame.push_back(static_cast<char>(stream >> shift));
  return frame + payload;
}

std::string Random(size_t bytes, std::mt19937* random) {
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>((*random)());
  return text;
}

class BodyFramesTest : public testing::Test {
 protected:
  // Reads the bytes as one read does, where `begun` of them belong to the frame that has begun.
  // Expects them all, in their order. Returns how many of them were given from the place.
  size_t Read(const std::string& bytes, size_t begun, size_t place_bytes) {
    place_.assign(place_bytes, '?');
    BodyFrames frames(kStream, begun, absl::MakeSpan(place_), &buffer_);
    size_t count = 0;
    for (const auto& target : frames.targets()) {
      const size_t size = std::min(target.size(), bytes.size() - count);
      std::memcpy(target.data(), bytes.data() + count, size);
      count += size;
    }
    std::string given;
    size_t placed = 0;
    EXPECT_TRUE(frames.Give(count, [&](absl::string_view piece) {
      if (piece.data() >= place_.data() && piece.data() < place_.data() + place_.size()) {
        EXPECT_EQ(piece.data(), place_.data() + placed);
        placed += piece.size();
      }
      given.append(piece.data(), piece.size());
      return true;
    }));
    EXPECT_EQ(given, bytes.substr(0, count));
    return placed;
  }

  std::mt19937 random_{7};
  std::string place_;
  std::string buffer_ = std::string(64 << 10, '\0');
};

TEST_F(BodyFramesTest, WithoutAPlaceAllGoesToTheBuffer) {
  EXPECT_EQ(Read(Random(1000, &random_), 0, 0), 0U);
}

TEST_F(BodyFramesTest, ABodyInLargestFramesGoesToItsPlace) {
  const std::string rest = Random(500, &random_);
  const std::string more = Random(2 * kFrame, &random_);
  const std::string last = Random(123, &random_);
  const std::string other = Frame("other", 1, 4, 9);
  const std::string bytes =
      rest + Frame(more.substr(0, kFrame)) + Frame(more.substr(kFrame)) + Frame(last, 0, 1) + other;
  const size_t body = rest.size() + more.size() + last.size();
  EXPECT_EQ(Read(bytes, rest.size(), body), body);
  EXPECT_EQ(place_, rest + more + last);
  // Cut anywhere: in a frame, at its end, in a head.
  for (size_t cut = 0; cut < bytes.size(); cut += 1 + cut / 3)
    Read(bytes.substr(0, cut), 500, body);
  EXPECT_EQ(Read(bytes.substr(0, 500 + 9 + 100), 500, body), 600U);
}

TEST_F(BodyFramesTest, AnotherFrameIsTakenFromElsewhere) {
  const std::string rest = Random(500, &random_);
  const std::string full = Random(kFrame, &random_);
  const size_t body = rest.size() + 4 * kFrame;
  const std::string begin = rest + Frame(full);
  const std::vector<std::string> others = {
      Frame(full, 0, 0, 9),   // another stream's
      Frame(full, 0, 8),      // with padding
      Frame(full.substr(1)),  // shorter
      Frame("", 3),           // a reset
      Frame("1234", 8),       // the same length as nothing of the body
  };
  for (const std::string& other : others) {
    EXPECT_EQ(Read(begin + other + Frame(full), rest.size(), body), rest.size() + kFrame);
  }
}

// Another request's rows may lie there as soon as a piece was given.
TEST_F(BodyFramesTest, NothingIsReadFromAPlaceThatWasGivenUp) {
  const std::string full = Random(kFrame, &random_);
  const std::string other = Frame("other", 1, 4, 9) + Frame(full, 0, 0, 9);
  const std::string rest = Random(500, &random_);
  for (const std::string& begin : {rest, rest + Frame(full, 0, 1)}) {
    const std::string bytes = begin + other;
    place_.assign(begin.size() + 4 * kFrame, '?');
    BodyFrames frames(kStream, rest.size(), absl::MakeSpan(place_), &buffer_);
    size_t count = 0;
    for (const auto& target : frames.targets()) {
      const size_t size = std::min(target.size(), bytes.size() - count);
      std::memcpy(target.data(), bytes.data() + count, size);
      count += size;
    }
    ASSERT_EQ(count, bytes.size());
    std::string given;
    EXPECT_TRUE(frames.Give(count, [&](absl::string_view piece) {
      given.append(piece.data(), piece.size());
      std::fill(place_.begin(), place_.end(), '!');
      return true;
    }));
    EXPECT_TRUE(given.substr(begin.size()) == other);
  }
}

TEST_F(BodyFramesTest, EveryMixtureComesInItsOrder) {
  for (int round = 0; round < 300; ++round) {
    const size_t begun = random_() % 2000;
    std::string bytes = Random(begun, &random_);
    for (int i = 0; i < 6; ++i) {
      const bool is_full = random_() % 3 > 0;
      const size_t size = is_full ? kFrame : random_() % 3000;
      bytes += Frame(Random(size, &random_), random_() % 5 == 0, random_() % 7 == 0 ? 8 : 0,
                     random_() % 6 == 0 ? 9 : kStream);
    }
    bytes.resize(random_() % bytes.size());
    Read(bytes, begun, begun + random_() % (5 * kFrame));
  }
}

TEST_F(BodyFramesTest, TheFirstRefusalIsTheLastCall) {
  const std::string bytes = Random(10, &random_) + Frame(Random(kFrame, &random_));
  place_.assign(10 + kFrame, '?');
  BodyFrames frames(kStream, 10, absl::MakeSpan(place_), &buffer_);
  int calls = 0;
  EXPECT_FALSE(frames.Give(10, [&calls](absl::string_view) { return ++calls < 1; }));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace mpsd
