#include "worker/model/sharing/host_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace mpsd {
namespace {

class HostMemoryTest : public testing::Test {
 protected:
  std::unique_ptr<DeviceMemory> Made(uint64_t bytes) {
    absl::StatusOr<std::unique_ptr<DeviceMemory>> made = source_->Make(bytes);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  const std::unique_ptr<DeviceMemorySource> source_ = MakeHostMemory();
};

TEST_F(HostMemoryTest, OutlivesTheOneThatMadeIt) {
  std::unique_ptr<DeviceMemory> made = Made(5000);
  EXPECT_GE(made->bytes(), 5000u);
  std::memset(made->data(), 7, 5000);
  absl::StatusOr<UniqueFd> descriptor = made->Export();
  ASSERT_TRUE(descriptor.ok()) << descriptor.status();
  made.reset();
  const auto opened = source_->Open(*std::move(descriptor), 5000);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->data()[4999], 7);
}

TEST_F(HostMemoryTest, IsReadAlone) {
  const std::unique_ptr<DeviceMemory> made = Made(100);
  absl::StatusOr<UniqueFd> descriptor = made->Export();
  ASSERT_TRUE(descriptor.ok()) << descriptor.status();
  EXPECT_EQ(mmap(nullptr, 100, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor->get(), 0),
            MAP_FAILED);
  EXPECT_NE(ftruncate(descriptor->get(), 0), 0);
  const auto opened = source_->Open(*std::move(descriptor), 100);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_DEATH((*opened)->data()[0] = 1, "");
  ASSERT_TRUE(made->Protect().ok());
  EXPECT_DEATH(made->data()[0] = 1, "");
}

TEST_F(HostMemoryTest, WhatIsNoneOrTooSmallIsRefused) {
  EXPECT_FALSE(source_->Open(UniqueFd(), 100).ok());
  EXPECT_FALSE(source_->Open(UniqueFd(open("/dev/null", O_RDONLY)), 100).ok());
  absl::StatusOr<UniqueFd> descriptor = Made(100)->Export();
  ASSERT_TRUE(descriptor.ok());
  EXPECT_EQ(source_->Open(*std::move(descriptor), 1 << 20).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace mpsd
