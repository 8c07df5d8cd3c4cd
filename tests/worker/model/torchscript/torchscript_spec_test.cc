#include "worker/model/torchscript/torchscript_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kArchive[] =
    R"({"max_batch_size": 8, "inputs": [{"name": "x", "datatype": "FP32", "shape": [4]}],
        "outputs": [{"name": "y", "datatype": "FP32", "shape": [4]}]})";

LoadOrder Order() {
  LoadOrder order;
  order.model = "m";
  return order;
}

TEST(MergeSpecs, TakesTheArchivesSpec) {
  const absl::StatusOr<ModelSpec> spec = MergeSpecs(Order(), kArchive, {"x"});
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->max_batch_size, 8u);
  EXPECT_THAT(spec->outputs, ElementsAre(TensorSpec{"y", DataType::kFp32, {4}}));
}

TEST(MergeSpecs, TheOrderOverridesPartByPart) {
  LoadOrder order = Order();
  order.spec.max_batch_size = 2;
  order.spec.inputs = {{"x", DataType::kFp16, {-1}}};
  order.spec.pad = {{"x", 0, {8}, 0, {}}};
  const absl::StatusOr<ModelSpec> spec = MergeSpecs(order, kArchive, {"x"});
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->max_batch_size, 2u);
  EXPECT_EQ(spec->inputs, order.spec.inputs);
  EXPECT_EQ(spec->pad, order.spec.pad);
  EXPECT_EQ(spec->outputs[0].name, "y");
}

TEST(MergeSpecs, TheTaskIsTheArchivesWord) {
  LoadOrder order = Order();
  order.spec.inputs = {{"x", DataType::kFp32, {4}}};
  order.spec.task = ModelTask::kRerank;
  EXPECT_EQ(MergeSpecs(order, R"({"task": "embedding"})", {"x"})->task, ModelTask::kEmbedding);
  EXPECT_EQ(MergeSpecs(order, "{}", {"x"})->task, ModelTask::kAuto);
  EXPECT_THAT(std::string(MergeSpecs(order, R"({"task": "rank"})", {"x"}).status().message()),
              HasSubstr("the archive's mpsd.json: task: there is no 'rank' here"));
}

TEST(MergeSpecs, PrintsTheFlagsThatAreMissing) {
  EXPECT_EQ(MergeSpecs(Order(), "", {"ids:FP32[-1,…]", "s:BYTES[-1,1]"}).status().message(),
            "model 'm' does not tell its inputs; say them, for example "
            "--input ids:FP32[-1,…] --input s:BYTES[-1,1]");
}

TEST(MergeSpecs, SaysWhatIsWrongInTheArchive) {
  EXPECT_THAT(std::string(MergeSpecs(Order(), "{", {"x"}).status().message()),
              HasSubstr("the archive's mpsd.json: is not JSON"));
  EXPECT_THAT(std::string(MergeSpecs(Order(), R"({"input": []})", {"x"}).status().message()),
              HasSubstr("did you mean 'inputs'"));
}

std::vector<TensorSpec> Named(std::initializer_list<const char*> names) {
  std::vector<TensorSpec> tensors;
  for (const char* name : names) tensors.push_back({name, DataType::kFp32, {}});
  return tensors;
}

TEST(MatchArguments, GoesByNameWhenAllNamesAreKnown) {
  EXPECT_THAT(*MatchArguments(Named({"b", "a"}), {"a", "b", "c"}, false), ElementsAre(1, 0));
}

TEST(MatchArguments, GoesByPositionOtherwise) {
  EXPECT_THAT(*MatchArguments(Named({"INPUT__0", "a"}), {"a", "b"}, false), ElementsAre(0, 1));
}

TEST(MatchArguments, RefusesANameThatNoArgumentHas) {
  EXPECT_THAT(*MatchArguments(Named({"b"}), {"a", "b"}, true), ElementsAre(1));
  EXPECT_THAT(std::string(MatchArguments(Named({"y"}), {"x"}, true).status().message()),
              HasSubstr("forward has no input 'y'"));
}

TEST(MatchArguments, RefusesMoreInputsThanArguments) {
  EXPECT_THAT(std::string(MatchArguments(Named({"x", "y"}), {"a"}, false).status().message()),
              HasSubstr("forward takes 1 inputs (a), but the spec has 2 inputs"));
}

}  // namespace
}  // namespace mpsd
