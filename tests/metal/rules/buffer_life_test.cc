#include "tests/metal/rules/buffer_life.h"

#include <thread>

#include "tests/metal/rules/rule_test.h"

namespace mpsd::standin {
namespace {

using BufferLifeTest = RuleTest;

TEST_F(BufferLifeTest, TheUsualLifeBreaksNoRule) {
  BufferLife life;
  EncoderLife encoder;
  EXPECT_TRUE(life.BeginsEncoder("computeCommandEncoder"));
  EXPECT_TRUE(encoder.AllowsCommands("fillBuffer"));
  EXPECT_TRUE(life.AllowsCommands("fillBuffer"));
  EXPECT_TRUE(encoder.Ends());
  life.EndsEncoder();
  encoder.Released();
  EXPECT_TRUE(life.AllowsEvent("encodeSignalEvent"));
  EXPECT_TRUE(life.AllowsHandler("addCompletedHandler"));
  EXPECT_TRUE(life.Commits());
  std::thread gpu([&] { life.Completes(); });
  life.WaitUntilCompleted();
  gpu.join();
  EXPECT_EQ(life.stage(), BufferStage::kCompleted);
  EXPECT_EQ(Total(), 0U);
}

TEST_F(BufferLifeTest, CommandsAfterTheCommit) {
  BufferLife life;
  life.Commits();
  EXPECT_FALSE(life.AllowsCommands("fillBuffer"));
  EXPECT_FALSE(life.AllowsEvent("encodeSignalEvent"));
  EXPECT_FALSE(life.BeginsEncoder("blitCommandEncoder"));
  EXPECT_EQ(Count(kEncodeAfterCommit), 3U);
}

TEST_F(BufferLifeTest, AHandlerAfterTheCommit) {
  BufferLife life;
  life.Commits();
  EXPECT_FALSE(life.AllowsHandler("addScheduledHandler"));
  EXPECT_EQ(Count(kHandlerAfterCommit), 1U);
}

TEST_F(BufferLifeTest, ACommitWithAnOpenEncoder) {
  BufferLife life;
  life.BeginsEncoder("computeCommandEncoder");
  EXPECT_TRUE(life.Commits());
  EXPECT_EQ(Count(kCommitWithOpenEncoder), 1U);
}

TEST_F(BufferLifeTest, TwoCommits) {
  BufferLife life;
  life.Commits();
  EXPECT_FALSE(life.Commits());
  EXPECT_EQ(Count(kCommitTwice), 1U);
}

TEST_F(BufferLifeTest, ASecondEncoderOrAnEventWhileOneIsOpen) {
  BufferLife life;
  life.BeginsEncoder("computeCommandEncoder");
  EXPECT_FALSE(life.BeginsEncoder("blitCommandEncoder"));
  EXPECT_FALSE(life.AllowsEvent("encodeWaitForEvent"));
  EXPECT_EQ(Count(kSecondEncoder), 2U);
}

TEST_F(BufferLifeTest, AWaitForABufferThatNobodyCommittedReturns) {
  const BufferLife life;
  life.WaitUntilCompleted();
  EXPECT_EQ(Count(kWaitBeforeCommit), 1U);
}

TEST_F(BufferLifeTest, AnEncoderThatHasEndedTakesNothing) {
  EncoderLife encoder;
  encoder.Ends();
  EXPECT_FALSE(encoder.AllowsCommands("fillBuffer"));
  EXPECT_FALSE(encoder.Ends());
  EXPECT_EQ(Count(kEncodeAfterEnd), 2U);
}

TEST_F(BufferLifeTest, AnEncoderThatIsReleasedBeforeItsEnd) {
  const EncoderLife encoder;
  encoder.Released();
  EXPECT_EQ(Count(kEncoderNotEnded), 1U);
}

}  // namespace
}  // namespace mpsd::standin
