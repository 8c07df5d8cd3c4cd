#include "proto/link/model_spec.h"

#include <algorithm>
#include <initializer_list>
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
  const ModelSpec spec = Read(kWhole).value();
  ModelSpec wanted;
  wanted.max_batch_size = 64;
  wanted.inputs = {{"input_ids", DataType::kInt64, {-1}},
                   {"attention_mask", DataType::kInt64, {-1}}};
  wanted.outputs = {{"last_hidden_state", DataType::kFp32, {-1, 384}}};
  wanted.pad = {{"input_ids", 0, {16, 32, 64}, 0, {{"last_hidden_state", 0}}}};
  EXPECT_EQ(spec, wanted);
}

TEST(ModelSpec, ADecoupledOneHasNoBatchDim) {
  const ModelSpec spec = Read(R"({"decoupled": true})").value();
  EXPECT_TRUE(spec.decoupled);
  EXPECT_EQ(ModelSpecFromJson(ToJson(spec)).value(), spec);
}

TEST(ModelSpec, MaySayItsTask) {
  const ModelSpec spec = Read(R"({"task": "rerank"})").value();
  EXPECT_EQ(spec.task, ModelTask::kRerank);
  EXPECT_EQ(ModelSpecFromJson(ToJson(spec)).value(), spec);
}

TEST(ModelSpec, JsonFormIsReadBack) {
  const ModelSpec spec = Read(kWhole).value();
  const ModelSpec again = ModelSpecFromJson(ToJson(spec)).value();
  EXPECT_EQ(again, spec);
}

TEST(ModelSpec, EverythingMayBeLeftOut) {
  const ModelSpec spec = Read("{}").value();
  EXPECT_EQ(spec, ModelSpec());
  EXPECT_FALSE(spec.batches());
}

TEST(ModelSpec, MustBeAnObject) {
  EXPECT_EQ(Error(Json::array()), "must be an object, not a list");
  EXPECT_EQ(Error(nullptr), "must be an object, not null");
}

// The whole spec with another value at a place, and what is said of it.
struct Mistake {
  const char* place;
  const char* value;
  std::string error;
};

constexpr char kName[] =
    "inputs[1].name: must be 1 to 128 letters, digits, '_', '.', ':' or '-', not ";
constexpr char kDim[] = "inputs[1].shape[1]: must be a whole number, or -1 for any length, not ";
constexpr char kBatchSize[] = "max_batch_size: must be a whole number from 0 to 1024, not ";

void ExpectErrors(std::initializer_list<Mistake> mistakes) {
  for (const auto& [place, value, error] : mistakes) {
    EXPECT_EQ(ErrorWith(place, Json::parse(value)), error) << place << " " << value;
  }
}

TEST(ModelSpec, MistakesAreTold) {
  ExpectErrors({
      {"/output", "[]", "output: unknown key; did you mean 'outputs'?"},
      {"/inputs/1/datatyp", "1", "inputs[1].datatyp: unknown key; did you mean 'datatype'?"},
      {"/inputs/0/q", "1",
       "inputs[0].q: unknown key; the keys here are name, datatype, shape, optional, client_shape"},
      {"/task", R"("embeddings")",
       "task: there is no 'embeddings' here; did you mean 'embedding'?"},
      {"/decoupled", "true",
       "decoupled: is for a model that takes one request at a time: max_batch_size is 0"},
      {"/max_batch_size", R"("64")", "max_batch_size: must be a whole number, not a string"},
      {"/max_batch_size", "1024", ""},
      {"/max_batch_size", "1025", absl::StrCat(kBatchSize, "1025")},
      {"/max_batch_size", "-1", absl::StrCat(kBatchSize, "-1")},
      {"/max_batch_size", "1.5", absl::StrCat(kBatchSize, "1.5")},
      {"/max_batch_size", "1e30", absl::StrCat(kBatchSize, "1e+30")},
      {"/inputs", "{}", "inputs: must be a list, not an object"},
      {"/outputs", "1", "outputs: must be a list, not a number"},
      {"/outputs/0", "true", "outputs[0]: must be an object, not a boolean"},
      {"/inputs/1", "{}",
       "inputs[1]: 'name' is missing\ninputs[1]: 'datatype' is missing\n"
       "inputs[1]: 'shape' is missing"},
      {"/outputs/0/optional", "true", "outputs[0].optional: is for an input"},
      {"/inputs/0/optional", "1", "inputs[0].optional: must be true or false, not a number"},
      {"/inputs/1/client_shape", "[4]", "inputs[1].client_shape: [4] cannot become [-1]"},
      {"/inputs/0/client_shape", "[-1, 1]",
       "pad[0].input: 'input_ids' has a client_shape, which excludes padding"},
  });
}

TEST(ModelSpec, MistakesOfATensorAreTold) {
  ExpectErrors({
      {"/inputs/1/name", R"("a-B_0.c:d")", ""},
      {"/inputs/1/name", R"("")", absl::StrCat(kName, "''")},
      {"/inputs/1/name", R"("a b")", absl::StrCat(kName, "'a b'")},
      {"/inputs/1/name", R"("a\nb")", absl::StrCat(kName, R"('a\nb')")},
      {"/inputs/1/name", "7", "inputs[1].name: must be a string, not a number"},
      {"/inputs/1/name", R"("input_ids")", "inputs[1].name: 'input_ids' stands twice"},
      {"/inputs/1/datatype", R"("INT46")",
       "inputs[1].datatype: unknown datatype 'INT46'; did you mean 'INT16'?"},
      {"/inputs/1/datatype", R"("fp32")",
       "inputs[1].datatype: unknown datatype 'fp32'; did you mean 'FP32'?"},
      {"/inputs/1/datatype", R"("q")",
       "inputs[1].datatype: unknown datatype 'q'; there are BOOL, UINT8, UINT16, UINT32, UINT64, "
       "INT8, INT16, INT32, INT64, FP16, FP32, FP64, BF16, BYTES"},
      {"/inputs/1/datatype", R"("")",
       "inputs[1].datatype: unknown datatype ''; there are BOOL, UINT8, UINT16, UINT32, UINT64, "
       "INT8, INT16, INT32, INT64, FP16, FP32, FP64, BF16, BYTES"},
      {"/inputs/1/datatype", "1", "inputs[1].datatype: must be a string, not a number"},
      {"/inputs/1/shape", "[-1, 0, 5]", ""},
      {"/inputs/1/shape", "[1, -2]", absl::StrCat(kDim, "-2")},
      {"/inputs/1/shape", "[1, 2.5]", absl::StrCat(kDim, "2.5")},
      {"/inputs/1/shape", R"([1, "x"])", absl::StrCat(kDim, "'x'")},
      {"/inputs/1/shape", "[1, [1]]", absl::StrCat(kDim, "a list")},
      {"/inputs/1/shape", "[1, 18446744073709551615]", absl::StrCat(kDim, "18446744073709551615")},
      {"/inputs/1/shape", "[1, 1, 1, 1, 1, 1, 1, 1]", ""},
      {"/inputs/1/shape", "[1, 1, 1, 1, 1, 1, 1, 1, 1]",
       "inputs[1].shape: has 9 elements; at most 8 are allowed"},
      {"/inputs/1/shape", "[1099511627776, 1099511627776]",
       "inputs[1].shape: is larger than any memory"},
  });
}

TEST(ModelSpec, MistakesOfPaddingAreTold) {
  ExpectErrors({
      {"/inputs/0/datatype", R"("BYTES")", "pad[0].input: a BYTES input cannot be padded"},
      {"/pad/0", "{}",
       "pad[0]: 'input' is missing\npad[0]: 'dim' is missing\npad[0]: 'buckets' is missing"},
      {"/pad/0/input", R"("input_id")",
       "pad[0].input: there is no input 'input_id'; did you mean 'input_ids'?"},
      {"/pad/0/outputs/0/output", R"("zzz")",
       "pad[0].outputs[0].output: there is no output 'zzz'; there are last_hidden_state"},
      {"/pad/0/dim", "1",
       "pad[0].dim: must name a dim of 'input_ids' that is -1; its shape is [-1]"},
      {"/pad/0/outputs/0/dim", "1",
       "pad[0].outputs[0].dim: must name a dim of 'last_hidden_state' that is -1; its shape is "
       "[-1,384]"},
      {"/pad/0/dim", "8", "pad[0].dim: must be a whole number from 0 to 7, not 8"},
      {"/pad/0/buckets", "[0, 16]",
       "pad[0].buckets[0]: must be a whole number above 0 (buckets ascend), not 0"},
      {"/pad/0/buckets", "[16, 16]",
       "pad[0].buckets[1]: must be a whole number above 16 (buckets ascend), not 16"},
      {"/pad/0/buckets", "[16, 8]",
       "pad[0].buckets[1]: must be a whole number above 16 (buckets ascend), not 8"},
      {"/pad/0/buckets", "[1.5]",
       "pad[0].buckets[0]: must be a whole number above 0 (buckets ascend), not 1.5"},
      {"/pad/0/buckets", "[]", "pad[0].buckets: must hold at least one length"},
      {"/pad/0/value", "-1", ""},
      {"/pad/0/value", "0.5", "pad[0].value: must be a value of INT64, not 0.5"},
      {"/pad/0/value", R"("0")", "pad[0].value: must be a number, not a string"},
  });
}

TEST(ModelSpec, NamesHaveABound) {
  EXPECT_EQ(ErrorWith("/inputs/1/name", std::string(kMaxNameBytes, 'a')), "");
  EXPECT_EQ(ErrorWith("/inputs/1/name", std::string(kMaxNameBytes + 1, 'a')),
            absl::StrCat(kName, "'", std::string(40, 'a'), "…'"));
}

TEST(ModelSpec, ClientsMaySeeAnotherShape) {
  Json json = Whole();
  json.erase("pad");
  json["outputs"][0]["client_shape"] = {-1, 2, 192};
  const ModelSpec spec = ModelSpecFromJson(json).value();
  EXPECT_EQ(spec.outputs[0].dims, (Dims{-1, 384}));
  EXPECT_EQ(spec.outputs[0].told_dims(), (Dims{-1, 2, 192}));
  EXPECT_EQ(spec.inputs[0].told_dims(), (Dims{-1}));
  EXPECT_EQ(*ModelSpecFromJson(ToJson(spec)), spec);
  json["outputs"][0]["client_shape"] = {-1, 384};
  EXPECT_FALSE(ModelSpecFromJson(json)->outputs[0].client_dims.has_value()) << "it is the model's";
}

TEST(ModelSpec, InputsMayBeOptional) {
  Json json = Whole();
  json["inputs"][0]["optional"] = true;
  const ModelSpec spec = ModelSpecFromJson(json).value();
  EXPECT_TRUE(spec.inputs[0].optional);
  EXPECT_EQ(*ModelSpecFromJson(ToJson(spec)), spec);
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

TEST(ModelSpec, PadLeavesNamesToTheModelWhereNoListIsGiven) {
  Json json = Whole();
  json.erase("inputs");
  json.erase("outputs");
  EXPECT_EQ(Error(json), "");
}

TEST(ModelSpec, PadValueFitsItsInput) {
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
  const TensorSpec parsed = ParseTensorText(TensorText(tensor)).value();
  EXPECT_EQ(parsed, tensor);
}

TEST(TensorText, NamesMayHoldColons) {
  const TensorSpec parsed = ParseTensorText("serving_default_x:0:FP32[]").value();
  EXPECT_EQ(parsed, (TensorSpec{"serving_default_x:0", DataType::kFp32, {}}));
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
