// A driver that loses counts where two threads are in it, with and without the guard. The classes
// are real ones of the host's Objective-C runtime.
#include "worker/metal/encoder_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/worker/metal/racy_driver.h"
#include "worker/metal/driver_methods.h"

// GNU's runtime forgets where it has put a few words of each class that is made at run time.
extern "C" const char* __lsan_default_suppressions() { return "leak:libobjc\n"; }

namespace mpsd {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr int kThreads = 4;
constexpr int kRounds = 200;

class EncoderGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    const absl::StatusOr<ObjectiveC> loaded = ObjectiveC::Load(RuntimeLibrary());
    if (!loaded.ok()) GTEST_SKIP() << "there is no Objective-C runtime: " << loaded.status();
    runtime_.emplace(*loaded);
    driver_.Reset();
    classes_ = RacyClasses::Of(*runtime_);
  }

  std::unique_ptr<EncoderGuard> Guard() {
    auto methods = FindEncoderMethods(*runtime_, classes_.device);
    EXPECT_TRUE(methods.ok()) << methods.status();
    auto guard = EncoderGuard::Install(*runtime_, *methods);
    EXPECT_TRUE(guard.ok()) << guard.status();
    driver_.Reset();
    return *std::move(guard);
  }

  // Begins an encoder and ends it, as a lane does for each kernel.
  void Encode(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      runtime_->Send(classes_.buffer, "computeCommandEncoder");
      runtime_->Send(classes_.encoder, i % 2 == 0 ? "endEncoding" : "destroyImpl");
    }
  }

  static void OnThreads(int count, const std::function<void()>& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
  }

  std::optional<ObjectiveC> runtime_;
  RacyDriver& driver_ = RacyDriver::Of();
  RacyClasses classes_;
};

TEST_F(EncoderGuardTest, WithoutItTwoThreadsMeetInTheDriverAndACountIsLost) {
  driver_.meeting = 2;
  OnThreads(2, [this] { runtime_->Send(classes_.buffer, "computeCommandEncoder"); });
  EXPECT_EQ(driver_.most_inside, 2);
  EXPECT_EQ(driver_.begun, 1) << "of two";
}

TEST_F(EncoderGuardTest, WithItEachThreadIsAloneAndNoCountIsLost) {
  const std::unique_ptr<EncoderGuard> guard = Guard();
  OnThreads(kThreads, [this] { Encode(kRounds); });
  EXPECT_EQ(driver_.most_inside, 1);
  EXPECT_EQ(driver_.begun, kThreads * kRounds);
  EXPECT_EQ(driver_.ended, kThreads * kRounds);
  EXPECT_EQ(guard->calls(), 2u * kThreads * kRounds);
}

TEST_F(EncoderGuardTest, ArgumentsAndAnswersPassThrough) {
  const std::unique_ptr<EncoderGuard> guard = Guard();
  const ObjectiveC::Class owner = runtime_->ClassOf(classes_.buffer);
  const ObjectiveC::Selector selector = runtime_->Named("computeCommandEncoderWithDescriptor:");
  using MakeWith = void* (*)(void*, const void*, void*);
  const auto make = reinterpret_cast<MakeWith>(runtime_->CodeOf(owner, selector));
  int descriptor = 0;
  EXPECT_EQ(make(classes_.buffer, selector, &descriptor), classes_.encoder);
  EXPECT_EQ(driver_.argument, &descriptor);
  EXPECT_EQ(runtime_->Send(classes_.buffer, "blitCommandEncoder"), classes_.encoder);
}

TEST_F(EncoderGuardTest, VerifyNamesAMethodThatSomebodyElseHasReplaced) {
  const std::unique_ptr<EncoderGuard> guard = Guard();
  EXPECT_TRUE(guard->Verify().ok());
  const ObjectiveC::Class owner = runtime_->ClassOf(classes_.encoder);
  const ObjectiveC::Selector selector = runtime_->Named("destroyImpl");
  const ObjectiveC::Code ours = runtime_->CodeOf(owner, selector);
  void (*other)(void*, const void*) = [](void*, const void*) {};
  runtime_->Replace(owner, selector, reinterpret_cast<ObjectiveC::Code>(other));
  EXPECT_THAT(std::string(guard->Verify().message()), HasSubstr("-[RacyEncoder destroyImpl]"));
  runtime_->Replace(owner, selector, ours);
  EXPECT_TRUE(guard->Verify().ok());
}

TEST_F(EncoderGuardTest, ItsEndPutsTheMethodsBack) {
  const ObjectiveC::Class owner = runtime_->ClassOf(classes_.encoder);
  const ObjectiveC::Selector selector = runtime_->Named("endEncoding");
  const ObjectiveC::Code before = runtime_->CodeOf(owner, selector);
  std::unique_ptr<EncoderGuard> guard = Guard();
  EXPECT_NE(runtime_->CodeOf(owner, selector), before);
  guard = nullptr;
  EXPECT_EQ(runtime_->CodeOf(owner, selector), before);
}

TEST_F(EncoderGuardTest, AMethodThatIsInheritedStaysWhatItIsForOthers) {
  static int calls = 0;
  void (*count)(void*, const void*) = [](void*, const void*) { ++calls; };
  const ObjectiveC::Class parent =
      ClassMaker(*runtime_, "GuardedParent").Add("destroyImpl", count, "v16@0:8").Make();
  const ObjectiveC::Class child = ClassMaker(*runtime_, "GuardedChild", parent).Make();
  const ObjectiveC::Selector selector = runtime_->Named("destroyImpl");
  const ObjectiveC::Code before = runtime_->CodeOf(parent, selector);
  const std::vector<EncoderMethod> methods = {{child, "destroyImpl", EncoderCall::kEnds}};
  const auto guard = EncoderGuard::Install(*runtime_, methods);
  ASSERT_TRUE(guard.ok()) << guard.status();
  EXPECT_EQ(runtime_->CodeOf(parent, selector), before);
  static const ObjectiveC::Object grandchild =
      ClassMaker(*runtime_, "GuardedGrandchild", child).MakeObject();
  runtime_->Send(grandchild, "destroyImpl");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ((*guard)->calls(), 1u);
}

TEST_F(EncoderGuardTest, AMethodThatIsNotThereIsRefusedAndNothingIsGuarded) {
  const ObjectiveC::Class owner = runtime_->ClassOf(classes_.encoder);
  const ObjectiveC::Selector selector = runtime_->Named("endEncoding");
  const ObjectiveC::Code before = runtime_->CodeOf(owner, selector);
  const std::vector<EncoderMethod> methods = {{owner, "endEncoding", EncoderCall::kEnds},
                                              {owner, "drawNothing", EncoderCall::kEnds}};
  const absl::Status status = EncoderGuard::Install(*runtime_, methods).status();
  EXPECT_EQ(status.message(), "there is no -[RacyEncoder drawNothing]");
  EXPECT_EQ(runtime_->CodeOf(owner, selector), before);
}

TEST_F(EncoderGuardTest, MoreMethodsThanSlotsAreRefusedAndNothingIsGuarded) {
  const ObjectiveC::Class owner = runtime_->ClassOf(classes_.encoder);
  const ObjectiveC::Selector selector = runtime_->Named("endEncoding");
  const ObjectiveC::Code before = runtime_->CodeOf(owner, selector);
  const std::vector<EncoderMethod> methods(kMaxGuardedMethods + 1,
                                           {owner, "endEncoding", EncoderCall::kEnds});
  EXPECT_TRUE(absl::IsResourceExhausted(EncoderGuard::Install(*runtime_, methods).status()));
  EXPECT_EQ(runtime_->CodeOf(owner, selector), before);
}

TEST_F(EncoderGuardTest, TheMethodsAreThoseOfTheClassesThatTheDeviceMakes) {
  const auto methods = FindEncoderMethods(*runtime_, classes_.device);
  ASSERT_TRUE(methods.ok()) << methods.status();
  std::vector<std::string> names;
  for (const EncoderMethod& method : *methods) {
    names.push_back(std::string(runtime_->NameOf(method.owner)) + " " + method.selector);
  }
  EXPECT_THAT(names, UnorderedElementsAre("RacyBuffer computeCommandEncoder",
                                          "RacyBuffer computeCommandEncoderWithDescriptor:",
                                          "RacyBuffer blitCommandEncoder",
                                          "RacyEncoder endEncoding", "RacyEncoder destroyImpl"));
}

TEST_F(EncoderGuardTest, ADeviceThatMakesNothingIsNamed) {
  const auto of_queue = FindEncoderMethods(*runtime_, classes_.queue);
  EXPECT_EQ(of_queue.status().message(), "the gpu's driver makes no command queue");
  static const ObjectiveC::Object bare = ClassMaker(*runtime_, "BareQueue").MakeObject();
  void* (*make)(void*, const void*) = [](void*, const void*) { return bare; };
  static const ObjectiveC::Object device =
      ClassMaker(*runtime_, "BareDevice").Add("newCommandQueue", make).MakeObject();
  EXPECT_EQ(FindEncoderMethods(*runtime_, device).status().message(),
            "the gpu's driver makes no command buffer");
}

TEST(ObjectiveC, ALibraryThatIsNoRuntimeIsRefused) {
  EXPECT_THAT(std::string(ObjectiveC::Load("libnone.so").status().message()),
              HasSubstr("libnone.so"));
  // The C library is loaded already, and has none of the functions.
  EXPECT_THAT(std::string(ObjectiveC::Load(nullptr).status().message()), HasSubstr("lacks"));
}

}  // namespace
}  // namespace mpsd
