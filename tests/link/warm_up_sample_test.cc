#include "proto/link/warm_up_sample.h"

#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace mpsd {
namespace {

std::vector<WarmUpSample> SomeSamples() {
  return {{3, 2, {{"x", DataType::kFp32, {2, 5}, WarmUpFill::kRandom, ""}}},
          {1, 1, {{"t", DataType::kBytes, {}, WarmUpFill::kData, std::string("\0\xff\n", 3)}}}};
}

TEST(WarmUpSample, ComesBackFromItsJson) {
  const auto samples = WarmUpSamplesFromJson(ToJson(SomeSamples())).value();
  EXPECT_EQ(samples, SomeSamples());
  EXPECT_TRUE(WarmUpSamplesFromJson(nlohmann::json::array())->empty());
}

TEST(WarmUpSample, TakesOnlySoMany) {
  const nlohmann::json one = ToJson(SomeSamples())[0];
  nlohmann::json json = nlohmann::json::array();
  for (size_t i = 0; i < kMaxWarmUpSamples; ++i) json.push_back(one);
  EXPECT_TRUE(WarmUpSamplesFromJson(json).ok());
  json.push_back(one);
  EXPECT_FALSE(WarmUpSamplesFromJson(json).ok());
}

TEST(WarmUpSample, RefusesJsonThatIsNone) {
  EXPECT_FALSE(WarmUpSamplesFromJson(nlohmann::json::object()).ok());
  for (const char* key : {"rows", "runs", "inputs"}) {
    nlohmann::json json = ToJson(SomeSamples());
    json[0][key] = "x";
    EXPECT_FALSE(WarmUpSamplesFromJson(json).ok()) << key;
    json[0].erase(key);
    EXPECT_FALSE(WarmUpSamplesFromJson(json).ok()) << key;
  }
  for (const char* key : {"name", "datatype", "fill", "data", "dims"}) {
    nlohmann::json json = ToJson(SomeSamples());
    json[0]["inputs"][0][key] = -1;
    EXPECT_FALSE(WarmUpSamplesFromJson(json).ok()) << key;
  }
  EXPECT_FALSE(WarmUpSamplesFromJson(nlohmann::json::array({7})).ok());
}

}  // namespace
}  // namespace mpsd
