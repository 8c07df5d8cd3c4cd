#include "server/http/connections/frame_meter.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

constexpr uint8_t kData = 0, kHeaders = 1, kPriority = 2, kRstStream = 3, kSettings = 4, kPing = 6,
                  kWindowUpdate = 8, kContinuation = 9, kUnknown = 200;
constexpr uint8_t kEndStream = 1, kEndHeaders = 4;
constexpr uint64_t kBlockBytes = 1000;
constexpr uint32_t kResets = 4000;
constexpr FrameBounds kBounds = {kBlockBytes, kResets};

std::string Frame(uint8_t kind, size_t length, uint8_t flags = 0, uint32_t stream = 0x01010101) {
  std::string frame;
  for (const int shift : {16, 8, 0}) frame.push_back(static_cast<char>(length >> shift & 0xff));
  frame.push_back(static_cast<char>(kind));
  frame.push_back(static_cast<char>(flags));
  for (const int shift : {24, 16, 8, 0}) frame.push_back(static_cast<char>(stream >> shift & 0xff));
  // Every byte of the payload looks like a head of an RST_STREAM.
  return frame.append(length, static_cast<char>(kRstStream));
}

class FrameMeterTest : public testing::Test {
 protected:
  Flood Take(absl::string_view bytes) {
    return meter_.Take({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                       clock_.NowNs());
  }
  Flood TakeMany(const std::string& frame, uint32_t count) {
    Flood flood = Flood::kNone;
    for (uint32_t i = 0; i < count; ++i) flood = Take(frame);
    return flood;
  }
  // The preface has come, and since then all budgets have filled.
  void Begin() {
    EXPECT_EQ(Take("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Flood::kNone);
    clock_.Advance(kNsPerSecond);
  }

  FakeClock clock_;
  FrameMeter meter_{kBounds, clock_.NowNs()};
};

TEST_F(FrameMeterTest, CountsTheServersOwnResetsWithTheClients) {
  Begin();
  EXPECT_EQ(TakeMany(Frame(kRstStream, 4), kResets - 1), Flood::kNone);
  EXPECT_EQ(meter_.CountOwnReset(clock_.NowNs()), Flood::kNone);
  EXPECT_EQ(meter_.CountOwnReset(clock_.NowNs()), Flood::kResets);
  EXPECT_EQ(Take(Frame(kData, 10)), Flood::kResets);
}

TEST_F(FrameMeterTest, CutsResetsBeyondTheirBudgetForGood) {
  Begin();
  const std::string reset = Frame(kRstStream, 4);
  EXPECT_EQ(TakeMany(reset, kResets), Flood::kNone);
  EXPECT_EQ(Take(reset), Flood::kResets);
  clock_.Advance(10 * kNsPerSecond);
  EXPECT_EQ(Take(Frame(kData, 10)), Flood::kResets);
}

TEST_F(FrameMeterTest, CallsThatWereOpenForAWhileHaveABudgetOfTheirOwn) {
  Take("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  clock_.Advance(FrameMeter::kLongOpenNs);
  Take(Frame(kHeaders, 10, kEndHeaders, 5));
  clock_.Advance(FrameMeter::kLongOpenNs);
  EXPECT_EQ(TakeMany(Frame(kRstStream, 4, 0, 5), FrameMeter::kLateResets * kResets), Flood::kNone);
  // Those of new calls are as many as they were.
  Take(Frame(kHeaders, 10, kEndHeaders, 7));
  EXPECT_EQ(TakeMany(Frame(kRstStream, 4, 0, 7), kResets / 4), Flood::kNone);
  EXPECT_EQ(TakeMany(Frame(kRstStream, 4, 0, 5), 100), Flood::kResets);
}

TEST_F(FrameMeterTest, ACallIsNewUntilItWasOpenForAWhile) {
  Begin();
  Take(Frame(kHeaders, 10, kEndHeaders, 5));
  clock_.Advance(FrameMeter::kLongOpenNs - 1);
  EXPECT_EQ(TakeMany(Frame(kRstStream, 4, 0, 5), kResets), Flood::kNone);
  EXPECT_EQ(Take(Frame(kRstStream, 4, 0, 5)), Flood::kResets);
}

TEST_F(FrameMeterTest, TimePassesWhileBytesKeepComing) {
  Begin();
  Take(Frame(kHeaders, 10, kEndHeaders, 5));
  for (int i = 0; i < 4; ++i) {
    clock_.Advance(FrameMeter::kLongOpenNs / 2);
    Take(Frame(kData, 10));
  }
  clock_.Advance(FrameMeter::kLongOpenNs / 2);
  Take(Frame(kHeaders, 10, kEndHeaders, 7));
  clock_.Advance(FrameMeter::kLongOpenNs / 2);
  EXPECT_EQ(TakeMany(Frame(kRstStream, 4, 0, 7), kResets), Flood::kNone);  // still new
  EXPECT_EQ(TakeMany(Frame(kRstStream, 4, 0, 5), kResets + 100), Flood::kNone);
}

// A flood begins calls and cancels them in the same breath, however long it lasts.
TEST_F(FrameMeterTest, CallsThatBeginAndEndAtOnceAreNewForEver) {
  Begin();
  Flood flood = Flood::kNone;
  uint32_t cancelled = 0;
  for (uint32_t stream = 1; flood == Flood::kNone; stream += 2, ++cancelled) {
    ASSERT_LT(cancelled, 3 * kResets);
    Take(Frame(kHeaders, 10, kEndHeaders, stream));
    flood = Take(Frame(kRstStream, 4, 0, stream));
    clock_.Advance(kNsPerSecond / kResets / 4);  // four times as many as it may
  }
  EXPECT_EQ(flood, Flood::kResets);
}

TEST_F(FrameMeterTest, AStreamsFirstBitSaysNothing) {
  Begin();
  Take(Frame(kHeaders, 10, kEndHeaders, 0x80000005));
  clock_.Advance(FrameMeter::kLongOpenNs);
  EXPECT_EQ(TakeMany(Frame(kRstStream, 4, 0, 0x80000005), kResets + 100), Flood::kNone);
  clock_.Advance(kNsPerSecond);
  EXPECT_EQ(TakeMany(Frame(kRstStream, 4, 0, 7), kResets + 100), Flood::kResets);
}

TEST_F(FrameMeterTest, ANewConnectionHasAQuarterAtOnce) {
  Take("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  const std::string reset = Frame(kRstStream, 4);
  EXPECT_EQ(TakeMany(reset, kResets / 4), Flood::kNone);
  EXPECT_EQ(Take(reset), Flood::kResets);
}

TEST_F(FrameMeterTest, ABudgetComesBackWithTime) {
  Begin();
  const std::string reset = Frame(kRstStream, 4);
  for (int second = 0; second < 5; ++second) {
    EXPECT_EQ(TakeMany(reset, kResets), Flood::kNone) << second;
    clock_.Advance(kNsPerSecond);
  }
}

TEST_F(FrameMeterTest, WhatSaysLittleSharesOneBudget) {
  Begin();
  const std::string each =
      absl::StrCat(Frame(kPriority, 5), Frame(kSettings, 0), Frame(kPing, 8), Frame(kUnknown, 3),
                   Frame(kData, 0), Frame(kHeaders, 0), Frame(kContinuation, 0, kEndStream),
                   Frame(kSettings, 0, kEndStream));
  EXPECT_EQ(TakeMany(each, FrameMeter::kControlFramesPerSecond / 8), Flood::kNone);
  EXPECT_EQ(Take(Frame(kPing, 8)), Flood::kControlFrames);
}

TEST_F(FrameMeterTest, CallsAndTheirMessagesCostNothing) {
  Begin();
  const std::string call = absl::StrCat(Frame(kHeaders, 100, kEndHeaders), Frame(kData, 1),
                                        Frame(kData, 16384), Frame(kData, 0, kEndStream));
  EXPECT_EQ(TakeMany(call, 20'000), Flood::kNone);
}

TEST_F(FrameMeterTest, WindowUpdatesHaveALargerBudget) {
  Begin();
  const std::string update = Frame(kWindowUpdate, 4);
  EXPECT_EQ(TakeMany(update, FrameMeter::kWindowUpdatesPerSecond), Flood::kNone);
  EXPECT_EQ(Take(update), Flood::kWindowUpdates);
}

TEST_F(FrameMeterTest, AHeaderBlockIsBoundedOverAllItsFrames) {
  Begin();
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(Take(Frame(kHeaders, kBlockBytes / 2)), Flood::kNone);
    EXPECT_EQ(Take(Frame(kContinuation, kBlockBytes / 2, kEndHeaders)), Flood::kNone);
  }
  EXPECT_EQ(Take(Frame(kHeaders, kBlockBytes)), Flood::kNone);
  EXPECT_EQ(Take(Frame(kContinuation, 1)), Flood::kHeaderBlock);
}

TEST_F(FrameMeterTest, TellsWhatIsToComeOfAFrameOfData) {
  Begin();
  const std::string data = Frame(kData, 100, 0, 7);
  EXPECT_EQ(Take(data.substr(0, 8)), Flood::kNone);
  EXPECT_EQ(meter_.data_to_come().bytes, 0U);
  EXPECT_EQ(Take(data.substr(8, 41)), Flood::kNone);
  EXPECT_EQ(meter_.data_to_come().stream, 7U);
  EXPECT_EQ(meter_.data_to_come().bytes, 60U);
  EXPECT_EQ(Take(data.substr(49)), Flood::kNone);
  EXPECT_EQ(meter_.data_to_come().bytes, 0U);
  EXPECT_EQ(Take(Frame(kHeaders, 100, 0, 7).substr(0, 20)), Flood::kNone);
  EXPECT_EQ(meter_.data_to_come().bytes, 0U);
}

TEST_F(FrameMeterTest, ItDoesNotMatterWhereTheBytesAreCut) {
  const std::string all =
      absl::StrCat("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Frame(kSettings, 12), Frame(kData, 300),
                   Frame(kHeaders, kBlockBytes), Frame(kContinuation, 1));
  const size_t last_head = all.size() - 1;
  for (size_t piece = 1; piece < 40; ++piece) {
    FrameMeter meter(kBounds, clock_.NowNs());
    size_t at = 0;
    for (; at < all.size(); at += piece) {
      const absl::string_view bytes = absl::string_view(all).substr(at, piece);
      const Flood flood = meter.Take({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                                     clock_.NowNs());
      EXPECT_EQ(flood, at + bytes.size() < last_head ? Flood::kNone : Flood::kHeaderBlock) << piece;
    }
  }
}

}  // namespace
}  // namespace mpsd
