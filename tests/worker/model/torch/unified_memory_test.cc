// On the cpu, whose memory is as unified as memory can be: a buffer is its pages.
#include "worker/model/torch/unified_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ATen/detail/MPSHooksInterface.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/equal.h"
#include "proto/base/platform.h"
#include "tests/worker/model/torch/fake_buffers.h"
#include "worker/model/torch/torch_device.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class UnifiedMemoryTest : public testing::Test {
 protected:
  ~UnifiedMemoryTest() override {
    if (pages_.data != nullptr) platform::UnmapSharedMemory(pages_.data, pages_.bytes);
  }

  UnifiedMemory Make(absl::StatusOr<std::unique_ptr<BufferMaker>> maker) {
    return UnifiedMemory(c10::Device(c10::kCPU), std::move(maker), [this] {
      ++waits_;
      return wait_status_;
    });
  }

  UnifiedMemory MakeWithBuffers() {
    auto maker = std::make_unique<FakeBuffers>();
    maker_ = maker.get();
    return Make(std::move(maker));
  }

  float* Pages() {
    pages_ = *platform::CreateSharedMemory(2 * platform::PageBytes(),
                                           platform::SharedMemoryWriter::kCreator);
    return static_cast<float*>(pages_.data);
  }

  FakeBuffers* maker_ = nullptr;
  platform::SharedMemory pages_;
  absl::Status wait_status_;
  int waits_ = 0;
};

TEST_F(UnifiedMemoryTest, ATensorInPlaceIsTheMemoryItself) {
  UnifiedMemory memory = MakeWithBuffers();
  EXPECT_EQ(memory.input_memory(), InputMemory::kInPlace);
  float* const data = Pages();
  memory.Add(data, pages_.bytes);
  std::iota(data + 16, data + 22, 1.0F);
  const auto tensor = memory.InPlace(data + 16, 6 * sizeof(float), at::kFloat, {2, 3});
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(tensor->const_data_ptr(), data + 16);
  EXPECT_EQ(tensor->sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensor->sum().item<float>(), 21);
  data[16] = 101;
  EXPECT_EQ(tensor->sum().item<float>(), 121);
  EXPECT_FALSE(memory.InPlace(data + 17, 4, at::kFloat, {1}).has_value()) << "not aligned";
}

TEST_F(UnifiedMemoryTest, ABufferOutlivesTheTensorsOverIt) {
  UnifiedMemory memory = MakeWithBuffers();
  float* const data = Pages();
  memory.Add(data, pages_.bytes);
  at::Tensor row = memory.InPlace(data, 64, at::kFloat, {2, 8})->select(0, 1);
  memory.Remove(data);
  EXPECT_EQ(maker_->alive, 1) << "a view is left";
  EXPECT_FALSE(memory.InPlace(data, 64, at::kFloat, {16}).has_value());
  row = at::Tensor();
  EXPECT_EQ(maker_->alive, 0);
}

TEST_F(UnifiedMemoryTest, WithoutBuffersInputsAreCopiedAndABatchStillWaitsOnce) {
  UnifiedMemory memory = Make(absl::UnimplementedError("there is no Metal on this platform"));
  EXPECT_EQ(memory.input_memory(), InputMemory::kCopied);
  EXPECT_TRUE(memory.waits_once());
  float* const data = Pages();
  memory.Add(data, pages_.bytes);
  EXPECT_FALSE(memory.InPlace(data, 64, at::kFloat, {16}).has_value());
  memory.Remove(data);
}

TEST_F(UnifiedMemoryTest, AGpuThatReadsSomethingElseHasItsInputsCopied) {
  auto maker = std::make_unique<FakeBuffers>();
  maker->copies = true;
  testing::internal::CaptureStderr();
  const UnifiedMemory memory = Make(std::move(maker));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("memory: inputs are copied to the gpu: the gpu read "));
  EXPECT_EQ(memory.input_memory(), InputMemory::kCopied);
  EXPECT_TRUE(memory.waits_once());
}

TEST_F(UnifiedMemoryTest, AGpuThatRefusesSuchPagesIsGivenCopiesOfThem) {
  const at::Tensor host = at::arange(4, at::kFloat);
  EXPECT_EQ(MakeWithBuffers().Copied(host).const_data_ptr(), host.const_data_ptr())
      << "on a cpu the device's tensor is the host's";
  auto maker = std::make_unique<FakeBuffers>();
  maker->refuses = true;
  const UnifiedMemory memory = Make(std::move(maker));
  const at::Tensor copy = memory.Copied(host);
  EXPECT_NE(copy.const_data_ptr(), host.const_data_ptr());
  EXPECT_TRUE(at::equal(copy, host));
  EXPECT_EQ(memory.input_memory(), InputMemory::kCopied);
  EXPECT_TRUE(memory.waits_once());
}

TEST_F(UnifiedMemoryTest, AWaitThatFailsLeavesACopyThatWaitsByItself) {
  wait_status_ = absl::InternalError("no such queue");
  testing::internal::CaptureStderr();
  const UnifiedMemory memory = MakeWithBuffers();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("memory: each copy waits for the gpu: no such queue"));
  EXPECT_FALSE(memory.waits_once());
  EXPECT_EQ(memory.input_memory(), InputMemory::kCopied);
  waits_ = 0;
  EXPECT_TRUE(memory.Finish().ok());
  EXPECT_EQ(waits_, 0);
}

TEST_F(UnifiedMemoryTest, OutputsOfAnyLayoutComeOutDenseWithOneWaitForAll) {
  const UnifiedMemory memory = MakeWithBuffers();
  waits_ = 0;
  const at::Tensor matrix = at::arange(6, at::kFloat).view({2, 3});
  std::vector<float> turned(6);
  memory.CopyOut(matrix.t(), turned.data());
  std::vector<float> column(2);
  memory.CopyOut(matrix.narrow(1, 1, 1), column.data());
  std::vector<float> wide(3);
  memory.CopyOut(matrix.select(0, 1).as_strided({1, 3}, {77, 1}, 3), wide.data());
  EXPECT_EQ(waits_, 0);
  EXPECT_TRUE(memory.Finish().ok());
  EXPECT_EQ(waits_, 1);
  EXPECT_THAT(turned, ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(column, ElementsAre(1, 4));
  EXPECT_THAT(wide, ElementsAre(3, 4, 5));
  memory.CopyOut(at::empty({0}), nullptr);
}

TEST_F(UnifiedMemoryTest, HoldsWhatTheDeviceHasBuffersOf) {
  UnifiedMemory memory = MakeWithBuffers();
  float* const data = Pages();
  memory.Add(data, pages_.bytes);
  EXPECT_EQ(memory.HeldBytes(), pages_.bytes);
  memory.Remove(data);
  EXPECT_EQ(memory.HeldBytes(), 0u);
  EXPECT_EQ(Make(absl::UnimplementedError("no Metal")).HeldBytes(), 0u);
}

// Libtorch's answers for an mps that this platform has not: 10 bytes in tensors, and 100 that the
// process has taken.
class FakeHooks final : public at::MPSHooksInterface {
 public:
  size_t getDriverAllocatedMemory() const override { return 100; }
  size_t getCurrentAllocatedMemory() const override { return 10; }
};

TEST(UnusedMemoryBytes, LeaveOutTheBuffersOfSlabs) {
  at::MPSHooksRegistry()->Register("MPSHooks",
                                   [](at::MPSHooksArgs) -> std::unique_ptr<at::MPSHooksInterface> {
                                     return std::make_unique<FakeHooks>();
                                   });
  const c10::Device mps(c10::kMPS, 0);
  EXPECT_EQ(UnusedMemoryBytes(mps, 0), 90u);
  EXPECT_EQ(UnusedMemoryBytes(mps, 64), 26u);
  EXPECT_EQ(UnusedMemoryBytes(mps, 91), 0u) << "a segment was added between the two counts";
  EXPECT_EQ(UnusedMemoryBytes(c10::Device(c10::kCPU), 0), 0u);
}

// On a cpu both ways give the same bytes, so the choice is tested by itself.
TEST(GpuWritesTo, TargetsAndSizesThatAreMultiplesOfFour) {
  alignas(8) const char memory[16] = {};
  EXPECT_TRUE(GpuWritesTo(memory, 8));
  EXPECT_TRUE(GpuWritesTo(memory + 4, 12));
  for (const int offset : {1, 2, 3, 6}) EXPECT_FALSE(GpuWritesTo(memory + offset, 4)) << offset;
  for (const uint64_t bytes : {1, 2, 3, 6}) EXPECT_FALSE(GpuWritesTo(memory, bytes)) << bytes;
}

TEST_F(UnifiedMemoryTest, RowsThatBeginAnywhereComeOutWhole) {
  const UnifiedMemory memory = MakeWithBuffers();
  const at::Tensor flags = at::arange(3, at::kByte);
  char rows[8] = {9, 9, 9, 9, 9, 9, 9, 9};
  memory.CopyOut(flags, rows);
  memory.CopyOut(flags, rows + 3);
  EXPECT_TRUE(memory.Finish().ok());
  EXPECT_THAT(rows, ElementsAre(0, 1, 2, 0, 1, 2, 9, 9));
}

TEST_F(UnifiedMemoryTest, AFailureOfTheWaitIsTheBatchs) {
  const UnifiedMemory memory = MakeWithBuffers();
  wait_status_ = absl::DataLossError("lost");
  EXPECT_TRUE(absl::IsDataLoss(memory.Finish()));
}

}  // namespace
}  // namespace mpsd
