#include "server/request/served_model.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(ServedModel, ARequestHasTheRowsOfABatchOrMore) {
  ServedModel model;
  EXPECT_EQ(model.MostRows(), 0u) << "it has no batch dim";
  model.facts.max_request_rows = 1000;
  EXPECT_EQ(model.MostRows(), 0u);
  model.spec.max_batch_size = 8;
  EXPECT_EQ(model.MostRows(), 64u * 8) << "so many parts at most";
  model.facts.max_request_rows = 100;
  EXPECT_EQ(model.MostRows(), 100u);
  model.facts.queue.levels = {QueuePolicy{.requests = 100}, QueuePolicy{.requests = 3}};
  EXPECT_EQ(model.MostRows(), 2u * 8) << "a tenant has half of a queue of three";
  model.facts.max_request_rows = 0;
  EXPECT_EQ(model.MostRows(), 8u);
}

class FindServedTest : public testing::Test {
 protected:
  FindServedTest() {
    auto model = std::make_shared<ServedModel>();
    model->name = "m";
    models_.Publish(std::move(model));
  }

  absl::Status Find(absl::string_view name, absl::string_view version) {
    return FindServed(models_, name, version).status();
  }

  ModelDirectory models_;
};

TEST_F(FindServedTest, AnEmptyVersionIsTheHighest) {
  EXPECT_EQ(FindServed(models_, "m", "").value(), models_.Find("m"));
  EXPECT_EQ(FindServed(models_, "m", "1").value(), models_.Find("m"));
}

TEST_F(FindServedTest, UnknownModel) {
  EXPECT_EQ(Find("x", ""), absl::NotFoundError("Request for unknown model: 'x' is not found"));
  EXPECT_EQ(Find("", "1"), absl::NotFoundError("Request for unknown model: '' is not found"));
}

TEST_F(FindServedTest, UnknownVersion) {
  EXPECT_EQ(Find("m", "99"),
            absl::NotFoundError("Request for unknown model: 'm' version 99 is not found"));
}

TEST_F(FindServedTest, VersionsThatAreNoPlainDecimal) {
  for (const char* version :
       {"abc", "1abc", " 1", "1 ", "+1", "1.0", "0x1", "-", "99999999999999999999"}) {
    EXPECT_EQ(
        Find("m", version).message(),
        std::string("failed to get model version from specified version string '") + version + "'");
    EXPECT_EQ(Find("m", version).code(), absl::StatusCode::kInvalidArgument) << version;
  }
}

TEST_F(FindServedTest, TheVersionMinusOne) {
  EXPECT_EQ(Find("m", "-1"), absl::InvalidArgumentError("invalid model version specified '-1'"));
}

std::shared_ptr<ServedModel> Version(const char* version, bool ready = true) {
  auto model = std::make_shared<ServedModel>();
  model->name = "m";
  model->version = version;
  model->ready = ready;
  return model;
}

TEST(ModelDirectory, AnEmptyVersionIsTheHighestThatIsReady) {
  ModelDirectory models;
  const auto two = Version("2");
  const auto ten = Version("10", /*ready=*/false);
  models.Publish(two);
  models.Publish(ten);
  EXPECT_EQ(models.Find("m"), two);
  EXPECT_EQ(models.Find("m", "10"), ten);
  two->ready = false;
  EXPECT_EQ(models.Find("m"), ten) << "the highest where none is ready";
  EXPECT_EQ(models.Find("m", "3"), nullptr);
}

TEST_F(FindServedTest, AnUnloadedModel) {
  models_.Know("gone", "7");
  EXPECT_EQ(Find("gone", ""),
            absl::NotFoundError("Request for unknown model: 'gone' has no available versions"));
  EXPECT_EQ(
      Find("gone", "7"),
      absl::UnavailableError("Request for unknown model: 'gone' version 7 is not at ready state"));
  EXPECT_EQ(Find("gone", "8"),
            absl::NotFoundError("Request for unknown model: 'gone' version 8 is not found"));
  models_.Forget("gone", "7");
  EXPECT_EQ(Find("gone", ""),
            absl::NotFoundError("Request for unknown model: 'gone' is not found"));
}

TEST(ModelDirectory, TheVersionsOfAModelTheLowestFirst) {
  ModelDirectory models;
  models.Publish(Version("2"));
  models.Publish(Version("10"));
  EXPECT_EQ(models.Versions("m"), (std::vector<std::string>{"2", "10"}));
  EXPECT_TRUE(models.Versions("n").empty());
}

TEST(ModelDirectory, AGenerationTakesTheOthersPlace) {
  ModelDirectory models;
  const auto old = Version("1");
  const auto fresh = Version("1");
  EXPECT_EQ(models.Publish(old), nullptr);
  EXPECT_EQ(models.Publish(fresh), old);
  EXPECT_EQ(models.Find("m"), fresh);
  EXPECT_EQ(models.models().size(), 1u);
  models.Withdraw(*old);
  EXPECT_EQ(models.Find("m"), fresh) << "only the old one was withdrawn";
  models.Withdraw(*fresh);
  EXPECT_EQ(models.Find("m"), nullptr);
  EXPECT_TRUE(models.models().empty());
}

TEST(ModelDirectory, IsReadyWhenRequestsAreTakenAndAllModelsAreReady) {
  ModelDirectory models;
  auto model = std::make_shared<ServedModel>();
  model->name = "m";
  models.Publish(model);
  EXPECT_FALSE(models.IsReady());
  models.stage = ServingStage::kServing;
  EXPECT_FALSE(models.IsReady());
  model->ready = true;
  EXPECT_TRUE(models.IsReady());
  for (ServingStage stage : {ServingStage::kLameDuck, ServingStage::kExiting}) {
    models.stage = stage;
    EXPECT_FALSE(models.IsReady());
  }
}

TEST(ModelDirectory, IsNotReadyWhileAModelThatIsWantedIsRefused) {
  ModelDirectory models;
  models.stage = ServingStage::kServing;
  auto model = std::make_shared<ServedModel>();
  model->name = "m";
  model->ready = true;
  models.Publish(model);
  models.SetRefused({{"other", "", "no such platform", /*wanted=*/false}});
  EXPECT_TRUE(models.IsReady()) << "a client alone asked for it";
  models.SetRefused({{"other", "", "no such platform"}});
  EXPECT_FALSE(models.IsReady());
  models.strict = false;
  EXPECT_TRUE(models.IsReady()) << "one model serves";
  model->ready = false;
  EXPECT_FALSE(models.IsReady());
  models.Withdraw(*model);
  EXPECT_FALSE(models.IsReady()) << "the one that is left is refused";
  models.SetRefused({});
  EXPECT_TRUE(models.IsReady()) << "none is wanted";
}

TEST(FindServed, SaysThatARefusedModelHasNoVersion) {
  ModelDirectory models;
  models.SetRefused({{"m", "", "no such platform"}, {"n", "2", "it throws"}});
  EXPECT_EQ(FindServed(models, "m", "").status(),
            absl::NotFoundError("Request for unknown model: 'm' has no available versions"));
  EXPECT_EQ(FindServed(models, "n", "").status(),
            absl::NotFoundError("Request for unknown model: 'n' has no available versions"));
  EXPECT_EQ(
      FindServed(models, "n", "2").status(),
      absl::UnavailableError("Request for unknown model: 'n' version 2 is not at ready state"));
  EXPECT_EQ(FindServed(models, "m", "1").status(),
            absl::NotFoundError("Request for unknown model: 'm' version 1 is not found"));
}

}  // namespace
}  // namespace mpsd
