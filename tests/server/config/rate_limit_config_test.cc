// A model's needs of resources that models share: their values, and each mistake.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/config/config.h"
#include "tests/server/config/config_files.h"

namespace mpsd {
namespace {

// A config of one model; its limiter stands on line 3, the daemon's resources on line 4.
std::string ConfigWith(const std::string& limiter, const std::string& resources = "{}") {
  return absl::StrCat("{\"models\": [{\"name\": \"m\",\n\"path\": \"m.pt\",\n\"rate_limiter\": ",
                      limiter, "}],\n\"resources\": ", resources, "}");
}

std::string ErrorOf(const std::string& limiter, const std::string& resources = "{}") {
  return ConfigFiles({"m.pt"}).Error(ConfigWith(limiter, resources));
}

TEST(RateLimitConfig, WhatItBecomes) {
  const ConfigFiles files({"m.pt"});
  const absl::StatusOr<Config> config =
      ParseConfig(ConfigWith("{\"resources\": [{\"name\": \"R1\", \"count\": 3}, "
                             "{\"name\": \"R2\", \"global\": true}], \"priority\": 2}",
                             "{\"R1\": 4}"),
                  files.folder() + "/c.json");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->resources, (ResourceLimits{{"R1", 4}}));
  const LaneNeeds& limit = config->models[0].lane_needs;
  EXPECT_EQ(limit.resources, (std::vector<ResourceNeed>{{"R1", 3, false}, {"R2", 1, true}}));
  EXPECT_EQ(limit.priority, 2u);
}

TEST(RateLimitConfig, WithoutOneAModelNeedsNothing) {
  const ConfigFiles files({"m.pt"});
  const absl::StatusOr<Config> config = ParseConfig(ConfigWith("{}"), files.folder() + "/c.json");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->models[0].lane_needs.empty());
}

TEST(RateLimitConfig, ANeedBeyondTheLimitIsAMistake) {
  EXPECT_EQ(ErrorOf("{\"resources\": [{\"name\": \"R1\", \"count\": 5}]}", "{\"R1\": 4}"),
            "c.json:3: models[0].rate_limiter: needs 5 of 'R1', of which 'resources' has 4");
}

TEST(RateLimitConfig, AResourceHasANameThatStandsThereOnce) {
  EXPECT_EQ(ErrorOf("{\"resources\": [{\"count\": 5}]}"),
            "c.json:3: models[0].rate_limiter.resources[0]: 'name' is missing");
  EXPECT_EQ(ErrorOf("{\"resources\": [{\"name\": \"R\"}, {\"name\": \"R\"}]}"),
            "c.json:3: models[0].rate_limiter.resources[1].name: stands there twice");
}

TEST(RateLimitConfig, TheDaemonsResourcesAreNumbers) {
  EXPECT_EQ(ErrorOf("{}", "[]"), "c.json:4: resources: must be an object, not a list");
  EXPECT_EQ(ErrorOf("{}", "{\"R\": 0}"),
            "c.json:4: resources.R: must be a whole number from 1 to 1000000000, not 0");
  EXPECT_EQ(ErrorOf("{}", "{\"R\": \"4\"}"),
            "c.json:4: resources.R: must be a whole number from 1 to 1000000000, not '4'");
}

std::string WeightErrorOf(const std::string& model, const std::string& share = "{}") {
  return ConfigFiles({"m.pt"}).Error(
      absl::StrCat("{\"models\": [{\"name\": \"m\", \"path\": \"m.pt\",\n", model,
                   "}],\n\"device_share\": ", share, "}"));
}

TEST(WeightConfig, WhatItBecomes) {
  const ConfigFiles files({"m.pt"});
  const absl::StatusOr<Config> config =
      files.Parse(R"({"models": [{"name": "m", "path": "m.pt", "weight": 9}],
                      "device_share": {"cpu": 2, "cuda": 1, "cuda:3": 1024}})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->models[0].lane_needs.weight, 9u);
  EXPECT_EQ(config->device_share, (DeviceLimits{{"cpu", 2}, {"cuda:0", 1}, {"cuda:3", 1024}}));
}

TEST(WeightConfig, Mistakes) {
  EXPECT_EQ(WeightErrorOf("\"weight\": 0"),
            "c.json:2: models[0].weight: must be a whole number from 1 to 1000, not 0");
  EXPECT_EQ(WeightErrorOf("\"rate_limiter\": {\"resources\": [{\"name\": \"R\"}]}, \"weight\": 2"),
            "c.json:2: models[0].weight: a model with a rate_limiter has its turns by that");
  EXPECT_EQ(WeightErrorOf("\"weight\": 1", "{\"gpu\": 1}"),
            "c.json:3: device_share.gpu: names no device, as cpu or cuda:0 do");
  EXPECT_EQ(WeightErrorOf("\"weight\": 1", "{\"cuda:all\": 1}"),
            "c.json:3: device_share['cuda:all']: names no device, as cpu or cuda:0 do");
  EXPECT_EQ(WeightErrorOf("\"weight\": 1", "{\"cpu\": 0}"),
            "c.json:3: device_share.cpu: must be a whole number from 1 to 1024, not 0");
}

}  // namespace
}  // namespace mpsd
