#include "server/bodies/grpc/trace_context.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kParent[] = "00f067aa0ba902b7";

std::string Text(const std::string& version, const std::string& flags) {
  return version + "-" + kTrace + "-" + kParent + "-" + flags;
}

TEST(TraceContext, IsRead) {
  TraceContext context;
  ASSERT_TRUE(ReadTraceparent(Text("00", "01"), &context));
  EXPECT_EQ(context.text, Text("00", "01"));
  EXPECT_EQ(context.trace_id(), kTrace);
  EXPECT_EQ(context.parent_id(), kParent);
  EXPECT_TRUE(context.sampled);
}

TEST(TraceContext, TheLastFlagSaysWhetherItIsSampled) {
  for (const auto& [flags, sampled] : {std::pair<const char*, bool>{"00", false},
                                       {"01", true},
                                       {"02", false},
                                       {"ff", true},
                                       {"fe", false}}) {
    TraceContext context;
    ASSERT_TRUE(ReadTraceparent(Text("00", flags), &context));
    EXPECT_EQ(context.sampled, sampled) << flags;
  }
}

TEST(TraceContext, NoneHasNoIds) {
  const TraceContext context;
  EXPECT_EQ(context.trace_id(), "");
  EXPECT_EQ(context.parent_id(), "");
}

TEST(TraceContext, LaterVersionsMayGoOn) {
  TraceContext context;
  EXPECT_TRUE(ReadTraceparent(Text("01", "01") + "-more", &context));
  EXPECT_FALSE(ReadTraceparent(Text("01", "01") + "more", &context));
  EXPECT_FALSE(ReadTraceparent(Text("00", "01") + "-more", &context));
  EXPECT_FALSE(ReadTraceparent(Text("ff", "01"), &context));
}

TEST(TraceContext, ItsLengthIsBounded) {
  const std::string begin = Text("01", "01") + "-";
  TraceContext context;
  EXPECT_TRUE(ReadTraceparent(begin + std::string(256 - begin.size(), 'a'), &context));
  EXPECT_FALSE(ReadTraceparent(begin + std::string(257 - begin.size(), 'a'), &context));
}

TEST(TraceContext, WhatALaterVersionAddsIsPrintable) {
  for (const char wrong : {' ', '\t', '\n', '\0', '\x7f', '\x80'}) {
    TraceContext context;
    EXPECT_FALSE(ReadTraceparent(Text("01", "01") + "-a" + wrong, &context)) << int{wrong};
    EXPECT_EQ(context.text, "");
  }
}

TEST(TraceContext, WhatIsNoneChangesNothing) {
  const std::string good = Text("00", "01");
  TraceContext context;
  for (size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(ReadTraceparent(good.substr(0, i), &context));
    std::string wrong = good;
    wrong[i] = 'g';
    EXPECT_FALSE(ReadTraceparent(wrong, &context)) << wrong;
    wrong[i] = 'A';
    EXPECT_FALSE(ReadTraceparent(wrong, &context)) << wrong;
    wrong[i] = '\0';
    EXPECT_FALSE(ReadTraceparent(wrong, &context)) << i;
  }
  const std::string zero_trace = "00-" + std::string(32, '0') + "-" + kParent + "-01";
  EXPECT_FALSE(ReadTraceparent(zero_trace, &context));
  const std::string zero_parent = std::string("00-") + kTrace + "-" + std::string(16, '0') + "-01";
  EXPECT_FALSE(ReadTraceparent(zero_parent, &context));
  EXPECT_FALSE(ReadTraceparent(Text("01", "01") + "-" + std::string(1000, 'a'), &context));
  EXPECT_EQ(context.text, "");
}

}  // namespace
}  // namespace mpsd
