#include "server/bodies/json/generate.h"

#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <vector>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr uint64_t kGenerateBytes = 1 << 20;

class GenerateTest : public testing::Test {
 protected:
  GenerateTest() {
    spec_.inputs = {{"text", DataType::kBytes, {1}},
                    {"tokens", DataType::kInt32, {-1}},
                    {"pairs", DataType::kFp32, {-1, 2}}};
  }

  absl::Status Read(const std::string& body) {
    message_.model = "m";
    return ReadGenerateBody(body, spec_, kGenerateBytes, &message_, &request_);
  }

  std::string Bytes(size_t input) const {
    const Payload& payload = message_.inputs[input].payload;
    return payload.pieces.empty() ? "" : std::string(payload.pieces[0]);
  }

  void ExpectRefused(const std::string& body, const std::string& text) {
    const absl::Status status = Read(body);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << body;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }

  ModelSpec spec_;
  InferBody request_;
  InferMessage message_;
};

TEST_F(GenerateTest, FieldsAreInputsOrParameters) {
  ASSERT_TRUE(
      Read(R"({"id":"7","text":"hi","timeout":5,"parameters":{"tokens":[1,2],"k":1.5}})").ok());
  EXPECT_EQ(message_.id, "7");
  EXPECT_EQ(message_.timeout_us, 5);
  ASSERT_THAT(message_.inputs, SizeIs(2));
  EXPECT_EQ(message_.inputs[0].name, "text");
  EXPECT_EQ(message_.inputs[0].datatype, "BYTES");
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(1));
  EXPECT_TRUE(message_.inputs[0].has_data);
  EXPECT_EQ(Bytes(0), std::string("\2\0\0\0hi", 6));
  EXPECT_THAT(message_.inputs[1].dims, ElementsAre(2));
  EXPECT_EQ(Bytes(1), std::string("\1\0\0\0\2\0\0\0", 8));
}

TEST_F(GenerateTest, ElementsAreSpreadOverTheDims) {
  spec_.max_batch_size = 8;
  ASSERT_TRUE(Read(R"({"pairs":[1,2,3,4],"text":"a","tokens":7})").ok());
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(1, 2, 2));
  EXPECT_THAT(message_.inputs[1].dims, ElementsAre(1, 1));
  EXPECT_THAT(message_.inputs[2].dims, ElementsAre(1, 1));
  // The one open dim is the batch dim.
  ASSERT_TRUE(Read(R"({"text":["a","b"]})").ok());
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(2, 1));
}

TEST_F(GenerateTest, ACountThatNoShapeHasIsRefused) {
  ExpectRefused(R"({"pairs":[1,2,3]})",
                "The schema can not convert input 'pairs' to tensor with proper shape");
  ExpectRefused(R"({"text":["a","b"]})", "'text' to tensor with proper shape");
  ExpectRefused(R"({"text":[]})", "proper shape");
  spec_.inputs[0].dims = {0};
  ExpectRefused(R"({"text":[]})", "proper shape");
}

TEST_F(GenerateTest, WhatIsNoElementIsRefused) {
  ExpectRefused(R"({"text":1})", "element 0 of input 'text' is no BYTES");
  ExpectRefused(R"({"tokens":[1,true]})", "element 1 of input 'tokens' is no INT32");
  ExpectRefused(R"({"tokens":[[1]]})", "JSON nesting depth exceeds maximum");
  ExpectRefused(R"({"tokens":{"a":1}})", "element 0");
  ExpectRefused(R"({"other":[1]})", "parameter 'other' has invalid type");
  ExpectRefused(R"({"text":"a","text":"b"})", "'text' comes twice");
  ExpectRefused(R"({"a":1,"parameters":{"a":2}})", "parameter 'a' comes twice");
  ExpectRefused(R"({"triton_x":1} 1)", "failed to parse");
  ExpectRefused(R"(["text"])", "failed to parse");
  ExpectRefused("", "failed to parse");
}

TEST_F(GenerateTest, TheSpecIsNotNeededAfterwards) {
  ASSERT_TRUE(Read(R"({"text":"a long enough text that it is not kept inside an object"})").ok());
  spec_ = ModelSpec();
  EXPECT_EQ(message_.inputs[0].name, "text");
  EXPECT_FALSE(request_.WantsBinary("any"));
}

TEST(GenerateReply, HasAFieldForEachOutput) {
  const std::string text("\2\0\0\0hi", 6);
  const std::string numbers("\1\2", 2);
  Answer answer;
  answer.outputs.push_back({"text", DataType::kBytes, {1, 1}, text});
  answer.outputs.push_back({"numbers", DataType::kInt8, {2}, numbers});
  answer.outputs.push_back({"none", DataType::kInt8, {0}, ""});
  std::string json;
  ASSERT_TRUE(WriteGenerateReply({"m", "1", "7"}, answer, 1000, &json).ok());
  EXPECT_EQ(json, R"({"model_name":"m","model_version":"1","id":"7","text":"hi","numbers":[1,2],)"
                  R"("none":[]})");
  EXPECT_EQ(StreamEvent(json), "data: " + json + "\n\n");
  answer.outputs[0].datatype = DataType::kFp16;
  EXPECT_FALSE(WriteGenerateReply({"m", "1", ""}, answer, 1000, &json).ok());
}

}  // namespace
}  // namespace mpsd
