// A device and its buffers are real classes of the host's Objective-C runtime.
#include "worker/metal/no_copy_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/worker/metal/racy_driver.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

// A question to the device, and its answer.
struct Asked {
  void* data = nullptr;
  unsigned long bytes = 0;
  unsigned long options = 1;
  void* at_end = nullptr;
  bool refuses = false;
  bool copies = false;
  int alive = 0;  // buffers
};
Asked asked;
ObjectiveC::Object only_buffer = nullptr;

ObjectiveC::Object AnswerMake(ObjectiveC::Object, ObjectiveC::Selector, void* data,
                              unsigned long bytes, unsigned long options, void* at_end) {
  asked.data = data;
  asked.bytes = bytes;
  asked.options = options;
  asked.at_end = at_end;
  if (asked.refuses) return nullptr;
  ++asked.alive;
  return only_buffer;
}

void* AnswerContents(ObjectiveC::Object, ObjectiveC::Selector) {
  return asked.copies ? &asked : asked.data;
}

void AnswerRelease(ObjectiveC::Object, ObjectiveC::Selector) { --asked.alive; }

class NoCopyBuffersTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<ObjectiveC> loaded = ObjectiveC::Load(RuntimeLibrary());
    if (!loaded.ok()) GTEST_SKIP() << "there is no Objective-C runtime: " << loaded.status();
    static const auto* const runtime = new ObjectiveC(*loaded);
    static const ObjectiveC::Object device =
        ClassMaker(*runtime, "BufferDevice")
            .Add("newBufferWithBytesNoCopy:length:options:deallocator:", &AnswerMake,
                 "@48@0:8^v16Q24Q32@40")
            .MakeObject();
    static const ObjectiveC::Object buffer = ClassMaker(*runtime, "DeviceBuffer")
                                                 .Add("contents", &AnswerContents, "^v16@0:8")
                                                 .Add("release", &AnswerRelease, "v16@0:8")
                                                 .MakeObject();
    only_buffer = buffer;
    asked = Asked();
    runtime_ = runtime;
    buffers_.emplace(MetalDevice{*runtime, device});
  }

  const ObjectiveC* runtime_ = nullptr;
  std::optional<NoCopyBuffers> buffers_;
  char memory_[64] = {};
};

TEST_F(NoCopyBuffersTest, AskTheDeviceForSharedMemoryThatItNeitherCopiesNorFrees) {
  const auto buffer = buffers_->Make(memory_, sizeof(memory_));
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ(buffer->get(), only_buffer) << "what libtorch takes for a tensor's data";
  EXPECT_EQ(asked.data, memory_);
  EXPECT_EQ(asked.bytes, sizeof(memory_));
  EXPECT_EQ(asked.options, 0u);
  EXPECT_EQ(asked.at_end, nullptr);
}

TEST_F(NoCopyBuffersTest, ReleaseABufferWithItsLastReference) {
  auto buffer = buffers_->Make(memory_, sizeof(memory_));
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  std::shared_ptr<void> other = *buffer;
  buffer->reset();
  EXPECT_EQ(asked.alive, 1);
  other.reset();
  EXPECT_EQ(asked.alive, 0);
}

TEST_F(NoCopyBuffersTest, AMemoryThatTheDeviceRefusesIsAnError) {
  asked.refuses = true;
  EXPECT_TRUE(absl::IsUnavailable(buffers_->Make(memory_, sizeof(memory_)).status()));
}

TEST_F(NoCopyBuffersTest, ABufferThatLiesElsewhereIsAnErrorAndReleased) {
  asked.copies = true;
  const absl::Status status = buffers_->Make(memory_, sizeof(memory_)).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("elsewhere"));
  EXPECT_EQ(asked.alive, 0);
}

TEST_F(NoCopyBuffersTest, ADeviceWithoutTheMethodMakesNone) {
  NoCopyBuffers others(MetalDevice{*runtime_, only_buffer});
  EXPECT_TRUE(absl::IsUnavailable(others.Make(memory_, sizeof(memory_)).status()));
}

}  // namespace
}  // namespace mpsd
