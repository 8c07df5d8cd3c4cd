#include "server/pool/quarantine.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "tests/fakes/fake_call.h"

namespace mpsd {
namespace {

constexpr int64_t kNow = 7 * kNsPerSecond;

TEST(Quarantine, RemembersForItsPeriod) {
  Quarantine quarantine;
  EXPECT_TRUE(quarantine.empty());
  EXPECT_FALSE(quarantine.Holds(1, kNow));
  quarantine.Add(1, kNow);
  EXPECT_FALSE(quarantine.empty());
  EXPECT_TRUE(quarantine.Holds(1, kNow + Quarantine::kPeriodNs - 1));
  EXPECT_FALSE(quarantine.Holds(2, kNow));
  EXPECT_FALSE(quarantine.Holds(1, kNow + Quarantine::kPeriodNs));
  EXPECT_TRUE(quarantine.empty()) << "nobody pays for it any more";
}

TEST(Quarantine, ForgetsTheOldestWhenItIsFull) {
  Quarantine quarantine;
  for (uint64_t content = 0; content < Quarantine::kMaxContents; ++content) {
    quarantine.Add(content, kNow + static_cast<int64_t>(content));
  }
  EXPECT_TRUE(quarantine.Holds(0, kNow + 100));
  quarantine.Add(1000, kNow + 100);
  EXPECT_FALSE(quarantine.Holds(0, kNow + 100));
  EXPECT_TRUE(quarantine.Holds(1, kNow + 100));
  EXPECT_TRUE(quarantine.Holds(1000, kNow + 100));
}

TEST(Quarantine, WhatIsAddedAgainIsTheYoungestAndTakesNoFurtherRoom) {
  Quarantine quarantine;
  for (uint64_t content = 0; content < Quarantine::kMaxContents; ++content) {
    quarantine.Add(content, kNow);
  }
  const int64_t later_ns = kNow + Quarantine::kPeriodNs - 1;
  quarantine.Add(1, later_ns);
  EXPECT_TRUE(quarantine.Holds(0, later_ns)) << "no room was needed";
  EXPECT_TRUE(quarantine.Holds(1, later_ns + Quarantine::kPeriodNs - 1));
  EXPECT_FALSE(quarantine.Holds(0, later_ns + Quarantine::kPeriodNs - 1));
}

TEST(Quarantine, TellsItsContentsAndForgivesThem) {
  Quarantine quarantine;
  quarantine.Add(7, kNow);
  quarantine.Add(8, kNow + kNsPerSecond);
  const int64_t later_ns = kNow + 3 * kNsPerSecond;
  ASSERT_EQ(quarantine.Contents(later_ns).size(), 2U);
  EXPECT_EQ(quarantine.Contents(later_ns)[0].fingerprint, 7U);
  EXPECT_EQ(quarantine.Contents(later_ns)[0].age_ns, 3 * kNsPerSecond);
  EXPECT_EQ(quarantine.Contents(kNow + Quarantine::kPeriodNs).size(), 1U) << "one is too old";
  EXPECT_EQ(quarantine.Forgive(), 1U);
  EXPECT_TRUE(quarantine.empty());
  EXPECT_FALSE(quarantine.Holds(8, later_ns));
  EXPECT_EQ(quarantine.Forgive(), 0U);
}

TEST(Quarantine, TheSecondDeathOfAContentConvicts) {
  Quarantine quarantine;
  EXPECT_FALSE(quarantine.NoteDeath(1, kNow));
  EXPECT_FALSE(quarantine.NoteDeath(2, kNow)) << "another content";
  EXPECT_TRUE(quarantine.NoteDeath(1, kNow + Quarantine::kPeriodNs - 1));
  EXPECT_FALSE(quarantine.NoteDeath(2, kNow + Quarantine::kPeriodNs)) << "too long ago";
  EXPECT_TRUE(quarantine.empty()) << "nothing is refused yet";
}

TEST(Quarantine, AnAnswerExplainsTheDeathBeforeAndThoseToCome) {
  Quarantine quarantine;
  EXPECT_FALSE(quarantine.WasAnswered(1));
  EXPECT_FALSE(quarantine.NoteDeath(1, kNow));
  quarantine.NoteAnswered(1);
  EXPECT_TRUE(quarantine.WasAnswered(1));
  EXPECT_FALSE(quarantine.WasAnswered(2));
  EXPECT_FALSE(quarantine.NoteDeath(1, kNow));
  EXPECT_FALSE(quarantine.NoteDeath(1, kNow));
  quarantine.NoteAnswered(1 + Quarantine::kMaxAnswered);
  EXPECT_FALSE(quarantine.WasAnswered(1)) << "another has its place";
  EXPECT_FALSE(quarantine.NoteDeath(1, kNow)) << "the deaths before the answer are forgotten";
  EXPECT_TRUE(quarantine.NoteDeath(1, kNow));
}

TEST(Quarantine, RemembersTheYoungestDeaths) {
  Quarantine quarantine;
  for (uint64_t content = 1; content <= Quarantine::kMaxContents + 1; ++content) {
    EXPECT_FALSE(quarantine.NoteDeath(content, kNow));
  }
  EXPECT_TRUE(quarantine.NoteDeath(2, kNow));
  EXPECT_FALSE(quarantine.NoteDeath(1, kNow));
}

TEST(Quarantine, WhatIsForgivenHasNoDeathsEither) {
  Quarantine quarantine;
  EXPECT_FALSE(quarantine.NoteDeath(1, kNow));
  EXPECT_EQ(quarantine.Forgive(), 0U);
  EXPECT_FALSE(quarantine.NoteDeath(1, kNow));
}

// The hash of a request of `rows` rows of these dims, all of which together are `elements`.
uint64_t HashOf(std::vector<float> elements, uint32_t rows, Dims dims,
                uint64_t (*hash)(const Request&) = HashContent) {
  FakeCall call;
  call.Describe(rows, std::move(dims), kNow, kNsPerSecond);
  call.request.reply.Fail(absl::OkStatus());
  MPSD_CHECK(call.request.inputs[0].Bytes(rows) == elements.size() * sizeof(float));
  call.request.rows_at.push_back(reinterpret_cast<char*>(elements.data()));
  return hash(call.request);
}

TEST(HashContent, IsOfRowsAndShapes) {
  std::vector<float> elements(24);
  std::iota(elements.begin(), elements.end(), 1.0F);
  const uint64_t hash = HashOf(elements, 2, {3, 4});
  EXPECT_EQ(HashOf(elements, 2, {3, 4}), hash);
  EXPECT_NE(HashOf(elements, 2, {4, 3}), hash) << "another shape of the same bytes";
  EXPECT_NE(HashOf(elements, 4, {3, 2}), hash);
  EXPECT_NE(HashOf(elements, 1, {24}), hash) << "another number of rows";
  for (float& element : elements) {
    element = -element;
    EXPECT_NE(HashOf(elements, 2, {3, 4}), hash) << element;
    element = -element;
  }
}

TEST(HashContent, SeesEveryByteOfALargeInput) {
  std::vector<float> elements(1 << 12);
  const uint64_t hash = HashOf(elements, 1, {1 << 12});
  for (float& element : elements) {
    element = 1;
    ASSERT_NE(HashOf(elements, 1, {1 << 12}), hash) << &element - elements.data();
    element = 0;
  }
}

TEST(HashContent, IsTheSameForEveryLane) {
  FakeCall call;
  call.Describe(1, {0}, kNow, kNsPerSecond);
  call.request.reply.Fail(absl::OkStatus());
  call.request.rows_at.push_back(nullptr);
  call.request.key = {1, 77};
  call.request.pin = 77;
  const uint64_t hash = HashContent(call.request);
  call.request.key = {1, 78};
  call.request.pin = 78;
  EXPECT_EQ(HashContent(call.request), hash);
  call.request.key = {2, 78};
  EXPECT_NE(HashContent(call.request), hash) << "another shape";
}

TEST(SampleContent, SeesTheEndsOfALargeInputAndSomeOfTheRest) {
  constexpr size_t kCount = 1 << 14;
  std::vector<float> elements(kCount);
  const uint64_t sample = HashOf(elements, 1, {kCount}, SampleContent);
  size_t seen = 0;
  for (size_t i = 0; i < kCount; ++i) {
    elements[i] = 1;
    const bool differs = HashOf(elements, 1, {kCount}, SampleContent) != sample;
    EXPECT_TRUE(differs || (i > 15 && i < kCount - 16)) << i;
    seen += differs ? 1 : 0;
    elements[i] = 0;
  }
  EXPECT_GE(seen * sizeof(float), kSampledBytes);
  EXPECT_LT(seen * sizeof(float), 2 * kSampledBytes) << "an element may lie across an end";
  EXPECT_NE(HashOf(std::vector<float>(kCount + 1), 1, {kCount + 1}, SampleContent), sample);
}

// Where one input ends and the next begins is part of it.
TEST(HashContent, SeesWhereAStringInputEnds) {
  std::string bytes = "abcd";
  const auto hash_of = [&bytes](uint64_t first_bytes) {
    Request request;
    for (const uint64_t tensor_bytes : {first_bytes, bytes.size() - first_bytes}) {
      RequestInput& input = request.inputs.emplace_back();
      input.datatype = DataType::kBytes;
      input.tensor_bytes = tensor_bytes;
    }
    request.rows_at = {bytes.data(), bytes.data() + first_bytes};
    EXPECT_EQ(HashContent(request), SampleContent(request)) << "a small input is hashed whole";
    return HashContent(request);
  };
  EXPECT_EQ(hash_of(2), hash_of(2));
  EXPECT_NE(hash_of(2), hash_of(3));
  EXPECT_NE(hash_of(0), hash_of(4));
}

}  // namespace
}  // namespace mpsd
