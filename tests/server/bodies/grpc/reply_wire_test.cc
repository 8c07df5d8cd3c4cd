#include "server/bodies/grpc/reply_wire.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <utility>

#include "proto/base/limits.h"
#include "proto/inference.pb.h"

namespace mpsd {
namespace {

using testing::ElementsAre;

class ReplyWireTest : public testing::Test {
 protected:
  void Add(const std::string& name, DataType datatype, Dims dims, absl::string_view bytes) {
    answer_.outputs.push_back({names_.emplace_back(name), datatype, std::move(dims), bytes});
  }

  // The bytes of the answer, which follow those that the buffer has.
  std::string Write(const ReplyHead& head = {"m", "1", "17"}) {
    std::string out = "head";
    AppendReply(head, answer_, &out);
    EXPECT_EQ(out.substr(0, 4), "head");
    return out.substr(4);
  }

  template <typename Response = inference::ModelInferResponse>
  static Response Parse(const std::string& bytes) {
    Response response;
    EXPECT_TRUE(response.ParseFromString(bytes));
    EXPECT_EQ(response.SerializeAsString().size(), bytes.size()) << "nothing but its fields";
    return response;
  }

  std::deque<std::string> names_;
  Answer answer_;
};

TEST_F(ReplyWireTest, IsReadByProtobuf) {
  const std::string name = "X";
  const std::string bytes = "01234567";
  Add(name, DataType::kFp32, {2, 1}, bytes);
  Add("Y", DataType::kBf16, {}, "ab");
  const inference::ModelInferResponse response = Parse(Write());
  EXPECT_EQ(response.model_name(), "m");
  EXPECT_EQ(response.model_version(), "1");
  EXPECT_EQ(response.id(), "17");
  ASSERT_EQ(response.outputs_size(), 2);
  EXPECT_EQ(response.outputs(0).name(), "X");
  EXPECT_EQ(response.outputs(0).datatype(), "FP32");
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(2, 1));
  EXPECT_EQ(response.outputs(1).datatype(), "BF16");
  EXPECT_EQ(response.outputs(1).shape_size(), 0);
  EXPECT_THAT(response.raw_output_contents(), ElementsAre("01234567", "ab"));
}

TEST_F(ReplyWireTest, AnEmptyOutputHasItsEntry) {
  Add("X", DataType::kFp32, {2, 0}, "");
  Add("Y", DataType::kUint8, {1}, "y");
  const inference::ModelInferResponse response = Parse(Write());
  EXPECT_THAT(response.raw_output_contents(), ElementsAre("", "y"));
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(2, 0));
}

TEST_F(ReplyWireTest, LargeDimsAndLongNames) {
  const std::string name(300, 'n');
  Add(name, DataType::kInt64, {127, 128, 16384, int64_t{1} << 40}, "x");
  const inference::ModelInferResponse response = Parse(Write());
  EXPECT_EQ(response.outputs(0).name(), name);
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(127, 128, 16384, int64_t{1} << 40));
}

TEST_F(ReplyWireTest, EmptyFieldsAreLeftOut) { EXPECT_EQ(Write({"", "", ""}), ""); }

TEST_F(ReplyWireTest, RandomAnswersAreReadByProtobuf) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    answer_ = {};
    std::deque<std::string> bytes;
    for (uint32_t i = random() % 5; i > 0; --i) {
      bytes.emplace_back(random() % 30'000, static_cast<char>('a' + random() % 26));
      Add("X", static_cast<DataType>(random() % kDataTypeCount),
          {static_cast<int64_t>(random()), static_cast<int64_t>(random() % 3)}, bytes.back());
    }
    const inference::ModelInferResponse response = Parse(Write());
    ASSERT_EQ(response.raw_output_contents_size(), static_cast<int>(bytes.size()));
    for (size_t i = 0; i < bytes.size(); ++i) {
      const int index = static_cast<int>(i);
      ASSERT_EQ(response.raw_output_contents(index), bytes[i]);
      ASSERT_EQ(response.outputs(index).datatype(), DataTypeName(answer_.outputs[i].datatype));
      ASSERT_THAT(response.outputs(index).shape(),
                  ElementsAre(answer_.outputs[i].dims[0], answer_.outputs[i].dims[1]));
    }
  }
}

TEST_F(ReplyWireTest, LargeOutputsMayStayWhereTheyAre) {
  const std::string large(kCopiedReplyBytes + 1, 'y');
  const std::string small(kCopiedReplyBytes, 'z');
  Add("A", DataType::kUint8, {static_cast<int64_t>(large.size())}, large);
  Add("B", DataType::kUint8, {static_cast<int64_t>(small.size())}, small);
  Add("C", DataType::kUint8, {static_cast<int64_t>(large.size())}, large);
  std::string text;
  Splices splices;
  AppendReply({"m", "1", "17"}, answer_, &text, &splices);
  EXPECT_EQ(splices.bytes(), 2 * large.size());
  std::string joined;
  splices.ForEach(text, 0, text.size() + splices.bytes(), [&](absl::string_view piece, bool is) {
    EXPECT_EQ(is, piece.data() == large.data());
    joined.append(piece.data(), piece.size());
  });
  EXPECT_EQ(joined, Write({"m", "1", "17"}));
}

TEST_F(ReplyWireTest, AStreamsAnswerIsTheSameInAnEnvelope) {
  const std::string bytes(kCopiedReplyBytes + 1, 'y');
  Add("OUT", DataType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes);
  Add("MORE", DataType::kUint8, {2}, "ab");
  std::string streamed;
  AppendStreamReply({"m", "1", "17"}, answer_, &streamed);
  const auto response = Parse<inference::ModelStreamInferResponse>(streamed);
  EXPECT_EQ(response.error_message(), "");
  EXPECT_EQ(response.infer_response().SerializeAsString(), Parse(Write()).SerializeAsString());
}

TEST_F(ReplyWireTest, AStreamsErrorNamesItsRequest) {
  for (const char* id : {"", "17"}) {
    std::string bytes;
    AppendStreamError("no such thing", id, &bytes);
    const auto response = Parse<inference::ModelStreamInferResponse>(bytes);
    EXPECT_EQ(response.error_message(), "no such thing");
    EXPECT_TRUE(response.has_infer_response());
    EXPECT_EQ(response.infer_response().id(), id);
  }
}

TEST_F(ReplyWireTest, TheFinalFlagIsAParameter) {
  Add("OUT", DataType::kUint8, {2}, "ab");
  for (const bool is_final : {true, false}) {
    const ReplyHead head{"m", "1", "17", /*final_flag=*/true, is_final};
    const inference::ModelInferResponse response = Parse(Write(head));
    ASSERT_EQ(response.parameters().count("triton_final_response"), 1u);
    EXPECT_EQ(response.parameters().at("triton_final_response").bool_param(), is_final);
    EXPECT_EQ(response.parameters().at("triton_final_response").parameter_choice_case(),
              inference::InferParameter::kBoolParam);
    EXPECT_THAT(response.raw_output_contents(), ElementsAre("ab"));
  }
}

TEST_F(ReplyWireTest, TextsThatWereCutAreAParameter) {
  Add("OUT", DataType::kUint8, {2}, "ab");
  ReplyHead head{"m", "1", "17"};
  EXPECT_EQ(Parse(Write(head)).parameters_size(), 0);
  head.truncated_texts = 300;
  const inference::ModelInferResponse response = Parse(Write(head));
  EXPECT_EQ(response.parameters().at("truncated_texts").int64_param(), 300);
  EXPECT_THAT(response.raw_output_contents(), ElementsAre("ab"));
}

TEST_F(ReplyWireTest, AnOutputInTheClientsMemorySaysWhere) {
  Add("X", DataType::kFp32, {2, 1}, "");
  answer_.outputs[0].region = {"region", 4096, 8};
  Add("Y", DataType::kUint8, {1}, "y");
  const inference::ModelInferResponse response = Parse(Write());
  const auto& parameters = response.outputs(0).parameters();
  EXPECT_EQ(parameters.at("shared_memory_region").string_param(), "region");
  EXPECT_EQ(parameters.at("shared_memory_offset").int64_param(), 4096);
  EXPECT_EQ(parameters.at("shared_memory_byte_size").int64_param(), 8);
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(2, 1));
  EXPECT_EQ(response.outputs(1).parameters_size(), 0);
  EXPECT_THAT(response.raw_output_contents(), ElementsAre("", "y"));
}

}  // namespace
}  // namespace mpsd
