#include "proto/link/model_spec.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr char kWhole[] = R"({
  "max_batch_size": 64,
  "inputs": [{"name": "input_ids", "datatype": "INT64", "shape": [-1]},
             {"name": "attention_mask", "datatype": "INT64", "shape": [-1]}],
  "outputs": [{"name": "last_hidden_state", "datatype": "FP32", "shape": [-1, 384]}],
  "pad": [{"input": "input_ids", "dim": 0, "buckets": [16, 32, 64], "value": 0,
           "outputs": [{"output": "last_hidden_state", "dim": 0}]}]
})";

Json Whole() { return Json::parse(kWhole); }

absl::StatusOr<ModelSpec> Read(const std::string& text) {
  return ModelSpecFromJson(Json::parse(text));
}

std::string Error(const Json& json) {
  return std::string(ModelSpecFromJson(json).status().message());
}

// The error of the whole spec after its value at `pointer` was replaced.
std::string ErrorWith(const char* pointer, Json value) {
  Json json = Whole();
  json[Json::json_pointer(pointer)] = std::move(value);
  return Error(json);
}

TEST(ModelSpec, ReadsAWholeOne) {
  const absl::StatusOr<ModelSpec> spec = Read(kWhole);
  ASSERT_TRUE(spec.ok()) << spec.status();
  ModelSpec wanted;
  wanted.max_batch_size = 64;
  wanted.inputs = {{"input_ids", DataType::kInt64, {-1}},
                   {"attention_mask", DataType::kInt64, {-1}}};
  wanted.outputs = {{"last_hidden_state", DataType::kFp32, {-1, 384}}};
  wanted.pad = {{"input_ids", 0, {16, 32, 64}, 0, {{"last_hidden_state", 0}}}};
  EXPECT_EQ(*spec, wanted);
}

TEST(ModelSpec, ADecoupledOneHasNoBatchDim) {
  const absl::StatusOr<ModelSpec> spec = Read(R"({"decoupled": true})");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_TRUE(spec->decoupled);
  EXPECT_EQ(ModelSpecFromJson(ToJson(*spec)).value(), *spec);
  Json json = Whole();
  json["decoupled"] = true;
  EXPECT_EQ(Error(json),
            "decoupled: is for a model that takes one request at a time: max_batch_size is 0");
}

TEST(ModelSpec, MaySayItsTask) {
  const absl::StatusOr<ModelSpec> spec = Read(R"({"task": "rerank"})");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->task, ModelTask::kRerank);
  EXPECT_EQ(ModelSpecFromJson(ToJson(*spec)).value(), *spec);
  EXPECT_EQ(ErrorWith("/task", "embeddings"),
            "task: there is no 'embeddings' here; did you mean 'embedding'?");
}

TEST(ModelSpec, JsonFormIsReadBack) {
  const absl::StatusOr<ModelSpec> spec = Read(kWhole);
  ASSERT_TRUE(spec.ok()) << spec.status();
  const absl::StatusOr<ModelSpec> again = ModelSpecFromJson(ToJson(*spec));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *spec);
}

TEST(ModelSpec, EverythingMayBeLeftOut) {
  const absl::StatusOr<ModelSpec> spec = Read("{}");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(*spec, ModelSpec());
  EXPECT_FALSE(spec->batches());
}

TEST(ModelSpec, MustBeAnObject) {
  EXPECT_EQ(Error(Json::array()), "must be an object, not a list");
  EXPECT_EQ(Error(nullptr), "must be an object, not null");
}

TEST(ModelSpec, NamesTheNearestKey) {
  EXPECT_EQ(ErrorWith("/output", Json::array()), "output: unknown key; did you mean 'outputs'?");
  EXPECT_EQ(ErrorWith("/inputs/1/datatyp", "FP32"),
            "inputs[1].datatyp: unknown key; did you mean 'datatype'?");
}

TEST(ModelSpec, NamesAllKeysWhenNoneIsNear) {
  EXPECT_EQ(
      ErrorWith("/inputs/0/q", 1),
      "inputs[0].q: unknown key; the keys here are name, datatype, shape, optional, client_shape");
}

TEST(ModelSpec, ClientsMaySeeAnotherShape) {
  Json json = Whole();
  json.erase("pad");
  json["outputs"][0]["client_shape"] = {-1, 2, 192};
  const absl::StatusOr<ModelSpec> spec = ModelSpecFromJson(json);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->outputs[0].dims, (Dims{-1, 384}));
  EXPECT_EQ(spec->outputs[0].told_dims(), (Dims{-1, 2, 192}));
  EXPECT_EQ(spec->inputs[0].told_dims(), (Dims{-1}));
  EXPECT_EQ(*ModelSpecFromJson(ToJson(*spec)), *spec);
  json["outputs"][0]["client_shape"] = {-1, 384};
  EXPECT_FALSE(ModelSpecFromJson(json)->outputs[0].client_dims.has_value()) << "it is the model's";
}

TEST(ModelSpec, AClientShapeHasAsManyElementsAndIsNotPadded) {
  EXPECT_EQ(ErrorWith("/inputs/1/client_shape", {4}),
            "inputs[1].client_shape: [4] cannot become [-1]");
  EXPECT_EQ(ErrorWith("/inputs/0/client_shape", {-1, 1}),
            "pad[0].input: 'input_ids' has a client_shape, which excludes padding");
}

TEST(ModelSpec, InputsMayBeOptionalAndNoOutputs) {
  Json json = Whole();
  json["inputs"][0]["optional"] = true;
  const absl::StatusOr<ModelSpec> spec = ModelSpecFromJson(json);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_TRUE(spec->inputs[0].optional);
  EXPECT_EQ(*ModelSpecFromJson(ToJson(*spec)), *spec);
  EXPECT_EQ(ErrorWith("/outputs/0/optional", true), "outputs[0].optional: is for an input");
  EXPECT_EQ(ErrorWith("/inputs/0/optional", 1),
            "inputs[0].optional: must be true or false, not a number");
}

TEST(ModelSpec, BatchSizeHasAType) {
  EXPECT_EQ(ErrorWith("/max_batch_size", "64"),
            "max_batch_size: must be a whole number, not a string");
  for (const Json& value : {Json(-1), Json(1.5), Json(1e30)}) {
    EXPECT_EQ(
        ErrorWith("/max_batch_size", value),
        absl::StrCat("max_batch_size: must be a whole number from 0 to 1024, not ", value.dump()));
  }
}

TEST(ModelSpec, BatchSizeHasABound) {
  EXPECT_EQ(ErrorWith("/max_batch_size", kMaxBatchRows), "");
  EXPECT_EQ(ErrorWith("/max_batch_size", kMaxBatchRows + 1),
            "max_batch_size: must be a whole number from 0 to 1024, not 1025");
}

TEST(ModelSpec, ListsMustBeLists) {
  EXPECT_EQ(ErrorWith("/inputs", Json::object()), "inputs: must be a list, not an object");
  EXPECT_EQ(ErrorWith("/outputs", 1), "outputs: must be a list, not a number");
  EXPECT_EQ(ErrorWith("/outputs/0", true), "outputs[0]: must be an object, not a boolean");
}

TEST(ModelSpec, TensorsMustBeComplete) {
  EXPECT_EQ(Error(Json::parse(R"({"inputs": [{}]})")),
            "inputs[0]: 'name' is missing\ninputs[0]: 'datatype' is missing\n"
            "inputs[0]: 'shape' is missing");
}

TEST(ModelSpec, TensorNamesArePlain) {
  EXPECT_EQ(ErrorWith("/inputs/1/name", "a-B_0.c:d"), "");
  EXPECT_EQ(ErrorWith("/inputs/1/name", std::string(kMaxNameBytes, 'a')), "");
  const std::string rule =
      "inputs[1].name: must be 1 to 128 letters, digits, '_', '.', ':' or '-', not ";
  EXPECT_EQ(ErrorWith("/inputs/1/name", ""), rule + "''");
  EXPECT_EQ(ErrorWith("/inputs/1/name", "a b"), rule + "'a b'");
  EXPECT_EQ(ErrorWith("/inputs/1/name", "a\nb"), rule + "'a\\nb'");
  EXPECT_EQ(ErrorWith("/inputs/1/name", std::string(kMaxNameBytes + 1, 'a')),
            rule + "'" + std::string(40, 'a') + "…'");
  EXPECT_EQ(ErrorWith("/inputs/1/name", 7), "inputs[1].name: must be a string, not a number");
}

TEST(ModelSpec, TensorNamesAreUnique) {
  EXPECT_EQ(ErrorWith("/inputs/1/name", "input_ids"), "inputs[1].name: 'input_ids' stands twice");
}

TEST(ModelSpec, NamesTheNearestDataType) {
  EXPECT_EQ(ErrorWith("/inputs/1/datatype", "INT46"),
            "inputs[1].datatype: unknown datatype 'INT46'; did you mean 'INT16'?");
  EXPECT_EQ(ErrorWith("/inputs/1/datatype", "fp32"),
            "inputs[1].datatype: unknown datatype 'fp32'; did you mean 'FP32'?");
  EXPECT_EQ(ErrorWith("/inputs/1/datatype", "q"),
            "inputs[1].datatype: unknown datatype 'q'; there are BOOL, UINT8, UINT16, UINT32, "
            "UINT64, INT8, INT16, INT32, INT64, FP16, FP32, FP64, BF16, BYTES");
  EXPECT_TRUE(ErrorWith("/inputs/1/datatype", "")
                  .starts_with("inputs[1].datatype: unknown datatype ''; there are BOOL,"));
  EXPECT_EQ(ErrorWith("/inputs/1/datatype", 1),
            "inputs[1].datatype: must be a string, not a number");
}

TEST(ModelSpec, DimsAreWholeAndNotBelowMinusOne) {
  const std::string rule = "inputs[1].shape[1]: must be a whole number, or -1 for any length, not ";
  EXPECT_EQ(ErrorWith("/inputs/1/shape", {-1, 0, 5}), "");
  EXPECT_EQ(ErrorWith("/inputs/1/shape", {1, -2}), rule + "-2");
  EXPECT_EQ(ErrorWith("/inputs/1/shape", {1, 2.5}), rule + "2.5");
  EXPECT_EQ(ErrorWith("/inputs/1/shape", {1, "x"}), rule + "'x'");
  EXPECT_EQ(ErrorWith("/inputs/1/shape", {1, Json::array({1})}), rule + "a list");
  EXPECT_EQ(ErrorWith("/inputs/1/shape", {1, UINT64_MAX}), rule + "18446744073709551615");
}

TEST(ModelSpec, RankHasABound) {
  EXPECT_EQ(ErrorWith("/inputs/1/shape", Json(std::vector<int>(kMaxRank, 1))), "");
  EXPECT_EQ(ErrorWith("/inputs/1/shape", Json(std::vector<int>(kMaxRank + 1, 1))),
            "inputs[1].shape: has 9 elements; at most 8 are allowed");
}

TEST(ModelSpec, RefusesShapesBeyondMemory) {
  EXPECT_EQ(ErrorWith("/inputs/1/shape", {1LL << 40, 1LL << 40}),
            "inputs[1].shape: is larger than any memory");
}

TEST(ModelSpec, TensorCountHasABound) {
  Json list = Json::array();
  for (size_t i = 0; i < kMaxTensors; ++i) {
    list.push_back({{"name", absl::StrCat("t", i)}, {"datatype", "FP32"}, {"shape", {1}}});
  }
  EXPECT_EQ(Error({{"inputs", list}}), "");
  list.push_back({{"name", "one_more"}, {"datatype", "FP32"}, {"shape", {1}}});
  EXPECT_EQ(Error({{"inputs", list}}), "inputs: has 65 elements; at most 64 are allowed");
}

TEST(ModelSpec, PadNamesAnInputThatIsThere) {
  EXPECT_EQ(ErrorWith("/pad/0/input", "input_id"),
            "pad[0].input: there is no input 'input_id'; did you mean 'input_ids'?");
}

TEST(ModelSpec, PadNamesAnOutputThatIsThere) {
  EXPECT_EQ(ErrorWith("/pad/0/outputs/0/output", "zzz"),
            "pad[0].outputs[0].output: there is no output 'zzz'; there are last_hidden_state");
}

TEST(ModelSpec, PadLeavesNamesToTheModelWhereNoListIsGiven) {
  Json json = Whole();
  json.erase("inputs");
  json.erase("outputs");
  EXPECT_EQ(Error(json), "");
}

TEST(ModelSpec, PadDimMustBeAnyLength) {
  EXPECT_EQ(ErrorWith("/pad/0/dim", 1),
            "pad[0].dim: must name a dim of 'input_ids' that is -1; its shape is [-1]");
  EXPECT_EQ(ErrorWith("/pad/0/outputs/0/dim", 1),
            "pad[0].outputs[0].dim: must name a dim of 'last_hidden_state' that is -1; its shape "
            "is [-1,384]");
  EXPECT_EQ(ErrorWith("/pad/0/dim", 8), "pad[0].dim: must be a whole number from 0 to 7, not 8");
}

TEST(ModelSpec, PadBucketsAscendAndArePositive) {
  const auto rule = [](int index, int floor, const char* found) {
    return absl::StrCat("pad[0].buckets[", index, "]: must be a whole number above ", floor,
                        " (buckets ascend), not ", found);
  };
  EXPECT_EQ(ErrorWith("/pad/0/buckets", {0, 16}), rule(0, 0, "0"));
  EXPECT_EQ(ErrorWith("/pad/0/buckets", {16, 16}), rule(1, 16, "16"));
  EXPECT_EQ(ErrorWith("/pad/0/buckets", {16, 8}), rule(1, 16, "8"));
  EXPECT_EQ(ErrorWith("/pad/0/buckets", {1.5}), rule(0, 0, "1.5"));
  EXPECT_EQ(ErrorWith("/pad/0/buckets", Json::array()),
            "pad[0].buckets: must hold at least one length");
}

TEST(ModelSpec, PadMustBeComplete) {
  EXPECT_EQ(ErrorWith("/pad/0", Json::object()),
            "pad[0]: 'input' is missing\npad[0]: 'dim' is missing\npad[0]: 'buckets' is missing");
}

TEST(ModelSpec, PadValueFitsItsInput) {
  EXPECT_EQ(ErrorWith("/pad/0/value", -1), "");
  EXPECT_EQ(ErrorWith("/pad/0/value", 0.5), "pad[0].value: must be a value of INT64, not 0.5");
  EXPECT_EQ(ErrorWith("/pad/0/value", "0"), "pad[0].value: must be a number, not a string");
  Json json = Whole();
  json["inputs"][0]["datatype"] = "UINT8";
  json["pad"][0]["value"] = 255;
  EXPECT_EQ(Error(json), "");
  json["pad"][0]["value"] = 256;
  EXPECT_EQ(Error(json), "pad[0].value: must be a value of UINT8, not 256.0");
  json["pad"][0]["value"] = -1;
  EXPECT_EQ(Error(json), "pad[0].value: must be a value of UINT8, not -1.0");
}

TEST(ModelSpec, PadHasOneRuleForADim) {
  Json json = Whole();
  json["pad"].push_back(json["pad"][0]);
  EXPECT_EQ(Error(json), "pad[1]: pads the same dim of the same input as an earlier rule");
}

TEST(ModelSpec, StringsCannotBePadded) {
  EXPECT_EQ(ErrorWith("/inputs/0/datatype", "BYTES"),
            "pad[0].input: a BYTES input cannot be padded");
}

TEST(ModelSpec, KeepsTwentyErrorsAndCountsTheRest) {
  Json json = Json::object();
  for (int i = 100; i < 125; ++i) json[absl::StrCat("z", i)] = 1;
  const std::string text = Error(json);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 20);
  EXPECT_TRUE(text.ends_with("\nand 5 more")) << text;
}

TEST(TensorText, IsReadBack) {
  const TensorSpec tensor{"input_ids", DataType::kInt64, {-1, 128}};
  EXPECT_EQ(TensorText(tensor), "input_ids:INT64[-1,128]");
  const absl::StatusOr<TensorSpec> parsed = ParseTensorText(TensorText(tensor));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, tensor);
}

TEST(TensorText, NamesMayHoldColons) {
  const absl::StatusOr<TensorSpec> parsed = ParseTensorText("serving_default_x:0:FP32[]");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, (TensorSpec{"serving_default_x:0", DataType::kFp32, {}}));
}

TEST(TensorText, HoldsABatchDimBesidesTheFullRank) {
  EXPECT_TRUE(ParseTensorText("x:FP32[-1,1,1,1,1,1,1,1,1]").ok());
  EXPECT_EQ(ParseTensorText("x:FP32[-1,1,1,1,1,1,1,1,1,1]").status().message(),
            "'x:FP32[-1,1,1,1,1,1,1,1,1,1]': at most 9 dims are allowed");
}

TEST(TensorText, RefusesWhatIsNoTensor) {
  const auto error = [](std::string_view text) {
    return std::string(ParseTensorText(text).status().message());
  };
  for (const char* text : {"", "x", "x:FP32", "FP32[1]", "x:FP32[1", "x:FP32[1]x"}) {
    EXPECT_EQ(error(text), "'" + std::string(text) + "': must be like name:FP32[-1,16]");
  }
  EXPECT_EQ(error("x:FP33[1]"), "'x:FP33[1]': unknown datatype 'FP33'");
  EXPECT_EQ(error(":FP32[1]"),
            "':FP32[1]': the name must be 1 to 128 letters, digits, '_', '.', ':' or '-', not ''");
  EXPECT_EQ(error("x:FP32[1,]"), "'x:FP32[1,]': the dim '' is no whole number");
  EXPECT_EQ(error("x:FP32[a]"), "'x:FP32[a]': the dim 'a' is no whole number");
  EXPECT_EQ(error("x:FP32[-2]"),
            "'x:FP32[-2]': the shape has a dim of -2; -1 stands for any length");
}

}  // namespace
}  // namespace mpsd
