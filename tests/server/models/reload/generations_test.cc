#include "server/models/reload/generations.h"

#include <gtest/gtest.h>

#include "tests/server/models/reload/fake_generation_maker.h"

namespace mpsd {
namespace {

class GenerationsTest : public testing::Test {
 protected:
  static bool Never() { return false; }

  absl::Status Swap(const ModelConfig& model) { return generations_.Swap(model, model, Never); }

  std::string State(const std::string& name) {
    for (const ModelListing& listing : generations_.List()) {
      if (listing.name == name) return listing.state;
    }
    return "";
  }

  FakeGenerationMaker maker_;
  ModelDirectory models_;
  Generations generations_{&maker_, &models_};
};

TEST_F(GenerationsTest, WhatTheDaemonBeginsWithIsFoundBeforeItServes) {
  generations_.Begin(AModel("m"), {AModel("a"), AModel("b")});
  ASSERT_NE(models_.Find("m"), nullptr);
  EXPECT_EQ(maker_.started()[0].model_count, 3u);
  EXPECT_EQ(State("m"), "LOADING");
  models_.Find("m")->ready = true;
  EXPECT_EQ(State("m"), "READY");
}

TEST_F(GenerationsTest, AStartThatFailsIsUnavailableAndSaysWhy) {
  generations_.Begin(AModel("m"), {});
  maker_.SetFault("m", absl::InternalError("it died: exit 3"));
  EXPECT_EQ(State("m"), "UNAVAILABLE");
  EXPECT_EQ(generations_.List().at(0).reason, "it died: exit 3");
  models_.Find("m")->ready = true;
  EXPECT_EQ(State("m"), "READY") << "whatever was said before";
  EXPECT_EQ(generations_.List().at(0).reason, "");
  models_.Find("m")->ready = false;
  EXPECT_EQ(State("m"), "UNAVAILABLE");
  maker_.SetFault("m", absl::OkStatus());
  EXPECT_EQ(State("m"), "LOADING");
}

TEST_F(GenerationsTest, ASwapPublishesTheNewOneAndRetiresTheOldOne) {
  ASSERT_TRUE(Swap(AModel("m")).ok());
  const std::shared_ptr<ServedModel> old = models_.Find("m");
  ASSERT_TRUE(Swap(With(AModel("m"), "k", "v")).ok());
  EXPECT_NE(models_.Find("m"), old);
  EXPECT_EQ(maker_.retired(), std::vector<std::shared_ptr<ServedModel>>{old});
  EXPECT_EQ(generations_.Sources().at(0).parameters.count("k"), 1u);
}

TEST_F(GenerationsTest, ACandidateThatFailsLeavesTheOldOneInItsPlace) {
  ASSERT_TRUE(Swap(AModel("m")).ok());
  const std::shared_ptr<ServedModel> old = models_.Find("m");
  EXPECT_EQ(Swap(With(AModel("m"), "fail", "no such file")), absl::InternalError("no such file"));
  EXPECT_EQ(models_.Find("m"), old);
  ASSERT_EQ(maker_.retired().size(), 1u);
  EXPECT_NE(maker_.retired()[0], old) << "the candidate went";
  EXPECT_EQ(generations_.Sources().at(0), AModel("m")) << "the next reload tries again";
  EXPECT_EQ(State("m"), "READY");
  EXPECT_EQ(generations_.List().at(0).reason, "no such file");
}

TEST_F(GenerationsTest, ANewModelThatFailsIsNotKnownAfterwards) {
  EXPECT_FALSE(Swap(With(AModel("m"), "fail", "no such file")).ok());
  EXPECT_TRUE(generations_.Sources().empty());
  EXPECT_FALSE(models_.Knows("m"));
}

TEST_F(GenerationsTest, AGenerationCountsWhereTheOneBeforeItDid) {
  ASSERT_TRUE(Swap(AModel("m")).ok());
  models_.Find("m")->metrics.batches = 7;
  ASSERT_TRUE(Swap(With(AModel("m"), "k", "v")).ok());
  EXPECT_EQ(models_.Find("m")->metrics.batches, 7u);
  EXPECT_EQ(models_.Find("m")->metrics.model, "m");
}

TEST_F(GenerationsTest, AModelThatComesBackWhileItsLastGenerationDrainsCountsOnWithIt) {
  ASSERT_TRUE(Swap(AModel("m", "2")).ok());
  models_.Find("m")->metrics.batches = 7;
  generations_.Remove({"m", "2"});
  ASSERT_TRUE(Swap(AModel("m", "2")).ok());
  EXPECT_EQ(models_.Find("m")->metrics.batches, 7u);
  generations_.Remove({"m", "2"});
  maker_.ForgetRetired();
  ASSERT_TRUE(Swap(AModel("m", "2")).ok());
  EXPECT_EQ(models_.Find("m")->metrics.batches, 0u) << "the counters went with their last owner";
  EXPECT_EQ(models_.Find("m")->metrics.version, "2");
}

TEST_F(GenerationsTest, AnUnloadedModelIsKnownButNotFound) {
  ASSERT_TRUE(Swap(AModel("m")).ok());
  generations_.Unload({"m", "1"});
  EXPECT_EQ(models_.Find("m"), nullptr);
  EXPECT_TRUE(models_.Knows("m", "1"));
  EXPECT_EQ(State("m"), "UNLOADING") << "a request is inside";
  EXPECT_EQ(generations_.List()[0].reason, "unloaded");
  maker_.ForgetRetired();
  EXPECT_EQ(State("m"), "UNAVAILABLE");
  generations_.Unload({"m", "1"});
  EXPECT_TRUE(maker_.retired().empty()) << "a second time does nothing";
  ASSERT_TRUE(Swap(AModel("m")).ok());
  EXPECT_EQ(State("m"), "READY");
  EXPECT_EQ(generations_.List()[0].reason, "");
}

TEST_F(GenerationsTest, ARemovedModelIsNotKnown) {
  ASSERT_TRUE(Swap(AModel("m")).ok());
  generations_.Remove({"m", "1"});
  EXPECT_EQ(models_.Find("m"), nullptr);
  EXPECT_FALSE(models_.Knows("m"));
  EXPECT_TRUE(generations_.List().empty());
  EXPECT_EQ(maker_.retired().size(), 1u);
}

TEST_F(GenerationsTest, TheHostIsSharedWithTheModelsThatAreServed) {
  ASSERT_TRUE(Swap(AModel("a")).ok());
  ASSERT_TRUE(Swap(AModel("b")).ok());
  EXPECT_EQ(maker_.started()[1].model_count, 2u);
  generations_.Unload({"a", "1"});
  ASSERT_TRUE(Swap(With(AModel("b"), "k", "v")).ok());
  EXPECT_EQ(maker_.started()[2].model_count, 1u) << "the old generation is not another model";
}

}  // namespace
}  // namespace mpsd
