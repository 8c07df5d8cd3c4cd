#include "server/bodies/json/infer_reply.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "server/bodies/json/json_text.h"
#include "server/bodies/json/tensor_json.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kMostBytes = 1 << 20;

template <typename Element>
std::string BytesOf(const std::vector<Element>& elements) {
  return std::string(reinterpret_cast<const char*>(elements.data()),
                     elements.size() * sizeof(Element));
}

std::string Texts(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) {
    bytes += BytesOf<uint32_t>({static_cast<uint32_t>(text.size())}) + text;
  }
  return bytes;
}

class InferReplyTest : public testing::Test {
 protected:
  void Add(const std::string& name, DataType datatype, Dims dims, std::string bytes) {
    bytes_.push_back(std::move(bytes));
    answer_.outputs.push_back({name_.emplace_back(name), datatype, dims, bytes_.back()});
  }

  absl::Status Write(const std::string& request = R"({"inputs":[]})") {
    EXPECT_TRUE(body_.Read(request, request.size(), 1 << 20, &message_).ok());
    return WriteInferReply(head_, answer_, body_, kMostBytes, &reply_);
  }

  // The text of one output's elements.
  std::string Data(DataType datatype, Dims dims, const std::string& bytes) {
    std::string out;
    const AnswerOutput output{"y", datatype, dims, bytes};
    status_ = PutTensorJson(output, DataForm::kArray, kMostBytes, &out);
    return status_.ok() ? out : "";
  }

  ReplyHead head_{"m", "1", "7"};
  std::deque<std::string> bytes_;
  std::deque<std::string> name_;
  Answer answer_;
  InferBody body_;
  InferMessage message_;
  InferReply reply_;
  absl::Status status_;
};

TEST_F(InferReplyTest, ReadsAsProse) {
  Add("y", DataType::kFp32, {2}, BytesOf<float>({0.5F, 1}));
  Add("z", DataType::kInt8, {3}, "ABC");
  ASSERT_TRUE(Write(R"({"inputs":[],"outputs":[{"name":"y"},)"
                    R"({"name":"z","parameters":{"binary_data":true}}]})")
                  .ok());
  EXPECT_EQ(reply_.json,
            R"({"model_name":"m","model_version":"1","id":"7","outputs":[)"
            R"({"name":"y","datatype":"FP32","shape":[2],"data":[0.5,1.0]},)"
            R"({"name":"z","datatype":"INT8","shape":[3],"parameters":{"binary_data_size":3}}]})");
  EXPECT_THAT(reply_.binary, ElementsAre("ABC"));
  EXPECT_EQ(reply_.binary_bytes, 3u);
  EXPECT_EQ(reply_.header_bytes(), reply_.json.size());
}

TEST_F(InferReplyTest, AllOutputsAreBinaryWhereTheClientNamesNone) {
  Add("y", DataType::kFp16, {1}, "ab");
  Add("none", DataType::kFp16, {0}, "");
  ASSERT_TRUE(Write(R"({"inputs":[],"parameters":{"binary_data_output":true}})").ok());
  EXPECT_THAT(reply_.binary, ElementsAre("ab"));
  EXPECT_THAT(reply_.json, HasSubstr(R"("shape":[0],"parameters":{"binary_data_size":0})"));
}

TEST_F(InferReplyTest, WithoutBinaryOutputsThereIsNoHeader) {
  head_.id = "";
  ASSERT_TRUE(Write().ok());
  EXPECT_EQ(reply_.json, R"({"model_name":"m","model_version":"1","outputs":[]})");
  EXPECT_EQ(reply_.header_bytes(), 0u);
}

TEST_F(InferReplyTest, SaysWhetherItIsTheLast) {
  head_.final_flag = true;
  head_.is_final = false;
  ASSERT_TRUE(Write().ok());
  EXPECT_FALSE(Json::parse(reply_.json)["parameters"]["triton_final_response"].get<bool>());
}

TEST_F(InferReplyTest, SaysHowManyTextsWereCut) {
  head_.truncated_texts = 2;
  for (const bool final_flag : {false, true}) {
    head_.final_flag = final_flag;
    reply_ = {};
    ASSERT_TRUE(Write().ok());
    const Json parameters = Json::parse(reply_.json)["parameters"];
    EXPECT_EQ(parameters["truncated_texts"], 2);
    EXPECT_EQ(parameters.contains("triton_final_response"), final_flag);
  }
}

TEST_F(InferReplyTest, AnOutputInARegionHasNoData) {
  Add("y", DataType::kFp32, {2}, "");
  answer_.outputs[0].region = {"r", 16, 8};
  ASSERT_TRUE(Write().ok());
  EXPECT_EQ(Json::parse(reply_.json)["outputs"][0],
            Json::parse(R"({"name":"y","datatype":"FP32","shape":[2],"parameters":{)"
                        R"("shared_memory_region":"r","shared_memory_byte_size":8,)"
                        R"("shared_memory_offset":16}})"));
}

TEST_F(InferReplyTest, WritesEachDatatype) {
  EXPECT_EQ(Data(DataType::kBool, {3}, std::string("\0\1\2", 3)), "[false,true,true]");
  EXPECT_EQ(Data(DataType::kInt8, {2}, BytesOf<int8_t>({-128, 65})), "[-128,65]");
  EXPECT_EQ(Data(DataType::kInt16, {1, 1}, BytesOf<int16_t>({-2})), "[-2]");
  EXPECT_EQ(Data(DataType::kInt32, {0}, ""), "[]");
  EXPECT_EQ(Data(DataType::kInt64, {1}, BytesOf<int64_t>({INT64_MIN})), "[-9223372036854775808]");
  EXPECT_EQ(Data(DataType::kUint8, {1}, "\xff"), "[255]");
  EXPECT_EQ(Data(DataType::kUint16, {1}, BytesOf<uint16_t>({65535})), "[65535]");
  EXPECT_EQ(Data(DataType::kUint32, {1}, BytesOf<uint32_t>({UINT32_MAX})), "[4294967295]");
  EXPECT_EQ(Data(DataType::kUint64, {1}, BytesOf<uint64_t>({UINT64_MAX})),
            "[18446744073709551615]");
  EXPECT_EQ(Data(DataType::kFp64, {3}, BytesOf<double>({0.1, -0.0, 1e300})), "[0.1,-0.0,1e+300]");
  EXPECT_EQ(Data(DataType::kBytes, {2}, Texts({"a\"\\\n\x01/", "\xc3\xa9"})),
            "[\"a\\\"\\\\\\n\\u0001/\",\"\xc3\xa9\"]");
}

TEST_F(InferReplyTest, ARealNumberReadsBackAsItself) {
  std::mt19937 random(11);
  std::vector<float> numbers = {0.1F, 1e-45F, std::numeric_limits<float>::max(), 16777216, 1e10F};
  while (numbers.size() < 5000) {
    const uint32_t bits = random();
    float number = 0;
    std::memcpy(&number, &bits, sizeof(number));
    if (std::isfinite(number)) numbers.push_back(number);
  }
  const std::string text = Data(DataType::kFp32, {5000}, BytesOf(numbers));
  const Json elements = Json::parse(text);
  ASSERT_EQ(elements.size(), numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_TRUE(elements[i].is_number_float());
    EXPECT_EQ(static_cast<float>(elements[i].get<double>()), numbers[i]);
  }
}

TEST_F(InferReplyTest, WhatJsonCannotCarryIsRefused) {
  const float infinity = std::numeric_limits<float>::infinity();
  Data(DataType::kFp32, {2}, BytesOf<float>({1, infinity}));
  EXPECT_EQ(status_.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status_.message()), HasSubstr("not finite"));
  Data(DataType::kFp64, {1}, BytesOf<double>({std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_EQ(status_.code(), absl::StatusCode::kInvalidArgument);
  Data(DataType::kBytes, {1}, Texts({"\xff"}));
  EXPECT_THAT(std::string(status_.message()), HasSubstr("not UTF-8"));
  Data(DataType::kFp16, {1}, "ab");
  EXPECT_THAT(std::string(status_.message()),
              HasSubstr("sending FP16 data via JSON is not supported. Please use the binary data "
                        "format for output y"));
  Data(DataType::kBf16, {1}, "ab");
  EXPECT_THAT(std::string(status_.message()), HasSubstr("sending BF16 data via JSON"));
}

TEST_F(InferReplyTest, BytesThatDoNotHoldTheShapeAreNotRead) {
  for (const std::string& bytes :
       {std::string("\x05\0\0\0a", 5), std::string("\1\0\0", 3), Texts({"a", "b"}), Texts({})}) {
    Data(DataType::kBytes, {1}, bytes);
    EXPECT_EQ(status_.code(), absl::StatusCode::kInternal);
  }
  Data(DataType::kFp32, {2}, "abcd");
  EXPECT_EQ(status_.code(), absl::StatusCode::kInternal);
}

TEST_F(InferReplyTest, TheTextIsBounded) {
  Add("y", DataType::kUint8, {1 << 20}, std::string(1 << 20, '\xff'));
  EXPECT_EQ(Write().code(), absl::StatusCode::kResourceExhausted);
}

TEST(JsonText, ReplacesWhatIsNoUtf8) {
  std::string out;
  EXPECT_FALSE(PutJsonText("a\xff\xc3(", &out));
  EXPECT_EQ(out, "\"a\xEF\xBF\xBD\xEF\xBF\xBD(\"");
  EXPECT_EQ(ErrorJson("no \"x\""), R"({"error":"no \"x\""})");
  EXPECT_EQ(Json::parse(ErrorJson(std::string("\0\x1f\x7f", 3)))["error"],
            std::string("\0\x1f\x7f", 3));
}

}  // namespace
}  // namespace mpsd
