#include "client/web/infer_bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace mpsd::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

// An output of `bytes` bytes, as a server describes it.
std::string Described(const std::string& name, const std::string& datatype,
                      const std::string& shape, int bytes) {
  return absl::StrCat(R"({"name":")", name, R"(","datatype":")", datatype, R"(","shape":)", shape,
                      R"(,"parameters":{"binary_data_size":)", bytes, "}}");
}

absl::StatusOr<InferReply> Read(const std::string& json, const std::string& tensors) {
  return ReadInferReply(json + tensors, absl::StrCat(json.size()));
}

std::string FaultOf(const std::string& outputs, const std::string& tensors) {
  const absl::Status status = Read(R"({"outputs":)" + outputs + "}", tensors).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << outputs;
  return std::string(status.message());
}

TEST(ModelPath, EscapesWhatNoPathMayHold) {
  EXPECT_EQ(ModelPath("a-b_c.1~", ""), "/v2/models/a-b_c.1~");
  EXPECT_EQ(ModelPath("a b/%\xff", "1"), "/v2/models/a%20b%2f%25%ff/versions/1");
  EXPECT_EQ(ModelPath("m", "?x#"), "/v2/models/m/versions/%3fx%23");
}

TEST(InferBodies, SendsTensorsBehindTheJson) {
  const std::string first("\0\x01\xff\"", 4);
  const std::string second = PackBytes({"hello"});
  const InferBody body = WriteInferBody({"m",
                                         "2",
                                         "seven",
                                         {{"x", DataType::kFp16, {1, 2}, first},
                                          {"none", DataType::kInt8, {0}, {}},
                                          {"text", DataType::kBytes, {1}, second}},
                                         {}});
  EXPECT_EQ(body.bytes.substr(body.json_bytes), first + second);
  const Json json = Json::parse(body.bytes.substr(0, body.json_bytes));
  EXPECT_EQ(json, Json::parse(R"({"id":"seven","parameters":{"binary_data_output":true},"inputs":[
    {"name":"x","datatype":"FP16","shape":[1,2],"parameters":{"binary_data_size":4}},
    {"name":"none","datatype":"INT8","shape":[0],"parameters":{"binary_data_size":0}},
    {"name":"text","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":9}}]})"));
}

TEST(InferBodies, WantsNamedOutputsAsBytes) {
  const InferBody body = WriteInferBody({"m", "", "", {}, {"b", "a\xff"}});
  EXPECT_EQ(Json::parse(body.bytes), Json::parse(R"({"inputs":[],"outputs":[
    {"name":"b","parameters":{"binary_data":true}},
    {"name":"a\ufffd","parameters":{"binary_data":true}}]})"));
  EXPECT_EQ(body.json_bytes, body.bytes.size());
}

TEST(InferBodies, ReadsOutputsInTheirOrder) {
  const std::string json = absl::StrCat(
      R"({"model_name":"m","model_version":"3","id":"7","parameters":{"truncated_texts":2},)",
      R"("outputs":[)", Described("y", "INT16", "[1,2]", 4), ",", Described("s", "BYTES", "[1]", 5),
      ",", Described("e", "FP32", "[0]", 0), "]}");
  const std::string bytes("\x01\x02\0\xff", 4);
  const auto reply = Read(json, bytes + PackBytes({"a"}));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->model, "m");
  EXPECT_EQ(reply->version, "3");
  EXPECT_EQ(reply->id, "7");
  EXPECT_EQ(reply->truncated_texts, 2U);
  ASSERT_EQ(reply->outputs.size(), 3U);
  EXPECT_EQ(reply->outputs[0].name, "y");
  EXPECT_EQ(reply->outputs[0].datatype, DataType::kInt16);
  EXPECT_THAT(reply->outputs[0].shape, ElementsAre(1, 2));
  EXPECT_EQ(reply->outputs[0].bytes, bytes);
  EXPECT_EQ(*UnpackBytes(reply->outputs[1].bytes), std::vector<std::string>{"a"});
  EXPECT_EQ(reply->outputs[2].bytes, "");
}

TEST(InferBodies, AnAnswerOfJsonAloneSaysNoLength) {
  const auto reply = ReadInferReply(R"({"model_name":"m","outputs":[]})", "");
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->model, "m");
}

TEST(InferBodies, RefusesAWrongLengthOfTheJson) {
  const std::string body = R"({"outputs":[]})";
  ASSERT_TRUE(ReadInferReply(body, "14").ok());
  for (const char* length : {"15", "-1", "x", "1e1", "99999999999999999999999"}) {
    EXPECT_EQ(ReadInferReply(body, length).status(),
              absl::InternalError(absl::StrCat("the server's answer has '", length,
                                               "' bytes of JSON, but 14 bytes in all")));
  }
  for (const char* length : {"0", "13"}) {
    EXPECT_EQ(ReadInferReply(body, length).status(),
              absl::InternalError("the server's answer has no list 'outputs'"));
  }
}

TEST(InferBodies, RefusesJsonThatIsNoAnswer) {
  for (const char* json : {"", "{", "[]", "{}", "null", R"({"outputs":{}})", "\xff"}) {
    EXPECT_EQ(Read(json, "").status(),
              absl::InternalError("the server's answer has no list 'outputs'"))
        << json;
  }
}

TEST(InferBodies, RefusesOutputsThatAreNone) {
  for (const char* output :
       {"1", "{}", R"({"name":"y"})", R"({"shape":[1]})", R"({"name":"y","shape":1})"}) {
    EXPECT_THAT(FaultOf(absl::StrCat("[", output, "]"), ""), HasSubstr("without a name or a shape"))
        << output;
  }
  EXPECT_THAT(FaultOf("[" + Described("y", "FP32", R"(["1"])", 4) + "]", "abcd"),
              HasSubstr("a dim that is no number"));
  EXPECT_EQ(FaultOf("[" + Described("y", "FP31", "[1]", 4) + "]", "abcd"),
            "the answer's output 'y' is of unknown datatype 'FP31'");
  EXPECT_EQ(FaultOf("[" + Described("y", "FP32", "[1]", 3) + "]", "abc"),
            "the answer's output 'y' is FP32[1] in 3 bytes");
}

TEST(InferBodies, RefusesAnOutputWithoutItsSize) {
  const std::string head = R"([{"name":"y","datatype":"FP32","shape":[1])";
  for (const char* rest : {"}]", R"(,"data":[1]}])", R"(,"parameters":1}])",
                           R"(,"parameters":{"binary_data_size":"4"}}])",
                           R"(,"parameters":{"binary_data_size":-4}}])"}) {
    EXPECT_EQ(FaultOf(head + rest, "abcd"),
              "the server's answer does not say how many bytes output 'y' has");
  }
}

TEST(InferBodies, RefusesTensorsThatAreCutOrTooLong) {
  const std::string outputs = absl::StrCat("[", Described("a", "INT8", "[2]", 2), ",",
                                           Described("b", "INT8", "[2]", 2), "]");
  EXPECT_EQ(FaultOf(outputs, "123"), "the server's answer ends before output 'b' does");
  EXPECT_EQ(FaultOf(outputs, "12345"), "the server's answer has 1 bytes behind its outputs");
}

TEST(InferBodies, ReadsTheMetadataOfAModel) {
  const auto metadata = ReadModelMetadata(R"({"name":"m","versions":["1","2"],"platform":"p",
    "inputs":[{"name":"x","datatype":"BF16","shape":[-1,16]}],
    "outputs":[{"name":"y","datatype":"FP128","shape":[]}]})");
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_EQ(metadata->name, "m");
  EXPECT_THAT(metadata->versions, ElementsAre("1", "2"));
  EXPECT_EQ(metadata->platform, "p");
  ASSERT_EQ(metadata->inputs.size(), 1U);
  EXPECT_EQ(metadata->inputs[0].name, "x");
  EXPECT_EQ(metadata->inputs[0].datatype, DataType::kBf16);
  EXPECT_THAT(metadata->inputs[0].shape, ElementsAre(-1, 16));
  EXPECT_EQ(metadata->outputs[0].datatype, DataType::kInvalid);
}

TEST(InferBodies, RefusesMetadataThatIsNone) {
  for (const char* body : {"", "[]", "{}", R"({"inputs":[]})", R"({"inputs":{},"outputs":[]})",
                           R"({"inputs":[1],"outputs":[]})",
                           R"({"inputs":[],"outputs":[{"name":"y","shape":[1.5]}]})"}) {
    EXPECT_EQ(ReadModelMetadata(body).status().code(), absl::StatusCode::kInternal) << body;
  }
}

}  // namespace
}  // namespace mpsd::client
