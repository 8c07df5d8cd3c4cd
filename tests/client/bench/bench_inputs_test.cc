#include "client/bench/bench_inputs.h"

#include <gtest/gtest.h>

namespace mpsd::bench {
namespace {

client::ModelMetadata Mlp() {
  return {.name = "mlp", .inputs = {{"x", DataType::kFp32, {-1, 1024}}}};
}

client::ModelMetadata Encoder(bool texts) {
  client::ModelMetadata metadata{.name = "bert",
                                 .inputs = {{"input_ids", DataType::kInt64, {-1, -1}},
                                            {"attention_mask", DataType::kInt64, {-1, -1}}}};
  if (texts) metadata.inputs.push_back({"text", DataType::kBytes, {-1, 1}});
  return metadata;
}

TEST(BenchInputs, DrawsAllInputsInTheModelsShape) {
  const auto plan = MakeRequestPlan(Mlp(), {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->model, "mlp");
  ASSERT_EQ(plan->inputs.size(), 1u);
  EXPECT_EQ(plan->inputs[0].dims, Dims({1, 1024}));
  EXPECT_EQ(plan->variants, 16u);
  EXPECT_TRUE(traffic::PrepareRequests(*plan).ok());
}

TEST(BenchInputs, RowsTakeTheOpenBatchDim) {
  const auto plan = MakeRequestPlan(Mlp(), {.rows = 8});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->inputs[0].dims, Dims({8, 1024}));
  client::ModelMetadata fixed = Mlp();
  fixed.inputs[0].shape = {1, 1024};
  EXPECT_EQ(MakeRequestPlan(fixed, {.rows = 8}).status().message(),
            "input 'x': it takes no --rows");
}

TEST(BenchInputs, OpenDimsTakeTheLengths) {
  const auto plan = MakeRequestPlan(Encoder(false), {.lengths = {8, 64}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->inputs.size(), 2u);
  EXPECT_EQ(plan->inputs[0].dims, Dims({1, -1}));
  EXPECT_EQ(plan->lengths, std::vector<int64_t>({8, 64}));
  EXPECT_EQ(plan->inputs[0].high, 99);
  EXPECT_EQ(plan->inputs[1].low, 1) << "of an attention_mask";
  EXPECT_EQ(MakeRequestPlan(Encoder(false), {})->lengths, std::vector<int64_t>({kDefaultLength}));
}

TEST(BenchInputs, AModelOfTextsGetsTexts) {
  const auto plan = MakeRequestPlan(Encoder(true), {.rows = 2});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->inputs.size(), 1u);
  EXPECT_EQ(plan->inputs[0].name, "text");
  EXPECT_EQ(plan->inputs[0].dims, Dims({2, 1}));
  EXPECT_LT(plan->inputs[0].low, plan->inputs[0].high) << "of mixed lengths";
}

TEST(BenchInputs, TheUserNamesInputsRangesAndShapes) {
  const auto plan = MakeRequestPlan(
      Encoder(true), {.inputs = {{.name = "input_ids", .range = "5..7", .shape = {3, 20}}}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->inputs.size(), 1u);
  EXPECT_EQ(plan->inputs[0].dims, Dims({3, 20}));
  EXPECT_EQ(plan->inputs[0].low, 5);
  EXPECT_EQ(plan->inputs[0].high, 7);
}

TEST(BenchInputs, ContentsKeepTheirDatatypeAndShape) {
  InputWish wish{.name = "x", .shape = {1, 2}, .contents = "12345678"};
  wish.datatype = DataType::kFp32;
  const auto plan = MakeRequestPlan(Mlp(), {.inputs = {wish}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->inputs[0].contents, "12345678");
  EXPECT_EQ(plan->inputs[0].dims, Dims({1, 2}));
}

TEST(BenchInputs, RefusesWhatTheModelHasNot) {
  EXPECT_EQ(MakeRequestPlan(Mlp(), {.inputs = {{.name = "y"}}}).status().message(),
            "input 'y': model 'mlp' has none of this name");
  EXPECT_FALSE(MakeRequestPlan(Mlp(), {.inputs = {{.name = "x", .range = "2..1"}}}).ok());
  EXPECT_FALSE(
      MakeRequestPlan(Mlp(), {.inputs = {{.name = "x", .shape = {1 << 20, 1 << 20}}}}).ok());
}

TEST(BenchInputs, ARequestBeyondTheBoundIsRefusedByItsBytes) {
  const auto plan_of = [](DataType datatype, const Dims& shape) {
    const client::ModelMetadata metadata{.name = "m", .inputs = {{"x", datatype, {-1, -1}}}};
    return MakeRequestPlan(metadata, {.inputs = {{.name = "x", .shape = shape}}});
  };
  EXPECT_EQ(plan_of(DataType::kFp32, {16, 1 << 20})->variants, 1u);
  EXPECT_EQ(plan_of(DataType::kFp32, {16, (1 << 20) + 1}).status().message(),
            "a request has more than 64 MiB");
  EXPECT_FALSE(plan_of(DataType::kInt64, {9, 1 << 20}).ok());
  EXPECT_EQ(plan_of(DataType::kUint8, {64, 1 << 20})->variants, 1u);
  EXPECT_FALSE(plan_of(DataType::kBytes, {1 << 18, 1}).ok()) << "of up to 64 words each";
  client::ModelMetadata two{.name = "m", .inputs = {{"x", DataType::kUint8, {-1}}}};
  two.inputs.push_back({"y", DataType::kUint8, {-1}});
  EXPECT_TRUE(MakeRequestPlan(two, {.rows = 32 << 20}).ok());
  EXPECT_FALSE(MakeRequestPlan(two, {.rows = 48 << 20}).ok());
}

TEST(BenchInputs, LargeRequestsAreFewer) {
  const auto plan = MakeRequestPlan(Mlp(), {.inputs = {{.name = "x", .shape = {4, 1 << 20}}}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->variants, 4u) << "of 16 MiB each";
}

}  // namespace
}  // namespace mpsd::bench
