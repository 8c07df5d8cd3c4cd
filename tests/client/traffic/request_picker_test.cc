#include "client/traffic/request_picker.h"

#include <gtest/gtest.h>

#include <vector>

namespace mpsd::traffic {
namespace {

constexpr int kDrawn = 10'000;

std::vector<PreparedRequest> RequestsOf(const std::vector<double>& shares) {
  std::vector<PreparedRequest> requests(shares.size());
  for (size_t i = 0; i < shares.size(); ++i) requests[i].share = shares[i];
  return requests;
}

TEST(RequestPicker, EachRequestHasItsShare) {
  RequestPicker picker(RequestsOf({6, 0.5, 3.5}), 1);
  std::vector<int> picked(3);
  for (int i = 0; i < kDrawn; ++i) ++picked.at(picker.Next());
  EXPECT_NEAR(picked[0], 0.60 * kDrawn, 0.02 * kDrawn);
  EXPECT_NEAR(picked[1], 0.05 * kDrawn, 0.02 * kDrawn);
  EXPECT_NEAR(picked[2], 0.35 * kDrawn, 0.02 * kDrawn);
}

TEST(RequestPicker, TheOnlyOneIsPickedAlways) {
  RequestPicker picker(RequestsOf({1}), 1);
  for (int i = 0; i < kDrawn; ++i) ASSERT_EQ(picker.Next(), 0u);
}

TEST(RequestPicker, TheSeedDecidesTheOrder) {
  const std::vector<PreparedRequest> requests = RequestsOf(std::vector<double>(1000, 1));
  const auto first = [&](uint64_t seed) { return RequestPicker(requests, seed).Next(); };
  EXPECT_EQ(first(1), first(1));
  EXPECT_NE(first(1), first(2));
}

}  // namespace
}  // namespace mpsd::traffic
