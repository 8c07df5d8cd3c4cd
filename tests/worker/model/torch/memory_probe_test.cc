#include "worker/model/torch/memory_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/base/platform.h"
#include "tests/worker/model/torch/fake_buffers.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

// A gpu that sees the buffer, or gets the numbers.
std::vector<int32_t> DoubledByAGpu(absl::Span<const int32_t> numbers,
                                   const std::optional<BufferPlace>& place) {
  const int32_t* seen = numbers.data();
  if (place.has_value()) {
    seen =
        reinterpret_cast<const int32_t*>(static_cast<char*>(place->buffer.get()) + place->offset);
  }
  std::vector<int32_t> doubled(numbers.size());
  for (size_t i = 0; i < doubled.size(); ++i) doubled[i] = 2 * seen[i];
  return doubled;
}

TEST(MemoryProbe, AGpuThatReadsTheMemoryPasses) {
  FakeBuffers maker;
  int rounds = 0;
  const absl::Status status = ProbeMemory(&maker, [&](auto numbers, const auto& place) {
    ++rounds;
    EXPECT_TRUE(place.has_value());
    EXPECT_GT(place->offset, platform::PageBytes());
    return DoubledByAGpu(numbers, place);
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(rounds, 2);
  EXPECT_EQ(maker.made, 1);
  EXPECT_EQ(maker.alive, 0) << "the pages are not mapped any more";
}

TEST(MemoryProbe, WithoutBuffersTheNumbersAreCopied) {
  const absl::Status status = ProbeMemory(nullptr, [](auto numbers, const auto& place) {
    EXPECT_FALSE(place.has_value());
    return DoubledByAGpu(numbers, place);
  });
  EXPECT_TRUE(status.ok()) << status;
}

TEST(MemoryProbe, ABufferThatIsACopyFails) {
  FakeBuffers maker;
  maker.copies = true;
  const absl::Status status = ProbeMemory(&maker, DoubledByAGpu);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
}

TEST(MemoryProbe, AGpuThatKeepsWhatItSawFirstFails) {
  FakeBuffers maker;
  std::vector<int32_t> first;
  const absl::Status status = ProbeMemory(&maker, [&](auto numbers, const auto& place) {
    if (first.empty()) first = DoubledByAGpu(numbers, place);
    return first;
  });
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
}

TEST(MemoryProbe, ANumberThatIsWrongFailsAndIsNamed) {
  const absl::Status status = ProbeMemory(nullptr, [](auto numbers, const auto& place) {
    std::vector<int32_t> doubled = DoubledByAGpu(numbers, place);
    doubled.back() = 84;
    return doubled;
  });
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("read 42 where"));
  EXPECT_TRUE(absl::IsDataLoss(
      ProbeMemory(nullptr, [](auto, const auto&) { return std::vector<int32_t>{2}; })));
}

TEST(MemoryProbe, WhatFailsIsTheReason) {
  FakeBuffers maker;
  maker.refuses = true;
  EXPECT_TRUE(absl::IsUnavailable(ProbeMemory(&maker, DoubledByAGpu)));
  const absl::Status lost =
      ProbeMemory(nullptr, [](auto, const auto&) -> absl::StatusOr<std::vector<int32_t>> {
        return absl::InternalError("the gpu is gone");
      });
  EXPECT_EQ(lost.message(), "the gpu is gone");
}

}  // namespace
}  // namespace mpsd
