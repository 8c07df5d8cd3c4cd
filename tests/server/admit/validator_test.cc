#include "server/admit/validator.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "proto/base/limits.h"
#include "tests/server/admit/message_builder.h"

namespace mpsd {
namespace {

using testing::ElementsAre;

constexpr int64_t kHuge = int64_t{1} << 62;

// Model 'm' takes A FP32[-1,16] and B INT64[-1] in batches of eight, and gives X and Y.
class Validation : public testing::Test {
 protected:
  Validation() {
    model_.name = "m";
    model_.spec.max_batch_size = 8;
    model_.spec.inputs = {{"A", DataType::kFp32, {16}}, {"B", DataType::kInt64, {-1}}};
    model_.spec.outputs = {{"X", DataType::kFp32, {16}}, {"Y", DataType::kFp32, {1}}};
  }

  // The same with A alone.
  void OneInput(Dims dims = {16}) { model_.spec.inputs = {{"A", DataType::kFp32, dims}}; }

  absl::Status Check() {
    request_.Reset();
    return Validate(*message_, model_, &request_);
  }

  // The text of a refusal; each of them is INVALID_ARGUMENT.
  std::string Refusal() {
    const absl::Status status = Check();
    if (status.ok()) return "accepted";
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  void ExpectRefusal(const MessageBuilder& message, const std::string& text) {
    request_.Reset();
    const absl::Status status = Validate(*message, model_, &request_);
    EXPECT_EQ(status.ok() ? "accepted" : status.message(), text);
    EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << status;
  }

  ServedModel model_;
  MessageBuilder message_;
  Request request_;
};

TEST_F(Validation, FillsTheRequestInTheOrderOfTheSpec) {
  message_.Raw("B", "INT64", {2, 3}, 48).Raw("A", "FP32", {2, 16}, 128).Wanted("Y").Wanted("X");
  ASSERT_TRUE(Check().ok());
  EXPECT_EQ(request_.rows, 2u);
  ASSERT_EQ(request_.inputs.size(), 2u);
  EXPECT_EQ(request_.inputs[0].datatype, DataType::kFp32);
  EXPECT_EQ(request_.inputs[0].dims, (Dims{16}));
  EXPECT_EQ(request_.inputs[1].dims, (Dims{3}));
  ASSERT_EQ(request_.inputs.size(), 2u);
  EXPECT_EQ(request_.inputs[0].payload, &message_->inputs[1].payload);
  EXPECT_EQ(request_.inputs[1].payload, &message_->inputs[0].payload);
  EXPECT_THAT(request_.wanted_outputs, ElementsAre(1, 0));
}

TEST_F(Validation, OptionalInputsMayBeLeftOut) {
  model_.spec.inputs[0].optional = true;
  message_.Raw("B", "INT64", {2, 3}, 48);
  ASSERT_TRUE(Check().ok());
  ASSERT_EQ(request_.inputs.size(), 2u);
  EXPECT_TRUE(request_.inputs[0].is_left_out());
  EXPECT_EQ(request_.inputs[1].dims, (Dims{3}));
  EXPECT_EQ(request_.rows, 2u) << "the first input that is there says it";
  message_.Raw("A", "FP32", {1, 16}, 64);
  EXPECT_EQ(Refusal(), "input 'B' batch size does not match other inputs for 'm'");
}

TEST_F(Validation, EveryRequiredInputIsThere) {
  model_.spec.inputs[1].optional = true;
  const std::string lead = "expected number of inputs between 1 and 2 but got ";
  const std::string missing =
      "but missing required input(s) ['A']. Please provide all required input(s).";
  EXPECT_EQ(Refusal(), lead + "0 inputs for model 'm'. Got input(s) [], " + missing);
  message_.Raw("B", "INT64", {2, 3}, 48);
  EXPECT_EQ(Refusal(), lead + "1 inputs for model 'm'. Got input(s) ['B'], " + missing);
  message_.Raw("C", "INT64", {2, 3}, 48);
  EXPECT_EQ(Refusal(), "unexpected inference input 'C' for model 'm'");
}

TEST_F(Validation, TheModelsShapeMayBeAnother) {
  OneInput({});
  model_.spec.inputs[0].client_dims = Dims{1};
  message_.Raw("A", "FP32", {2, 1}, 8);
  ASSERT_TRUE(Check().ok());
  EXPECT_EQ(request_.inputs[0].dims, Dims());
  model_.spec.inputs[0] = {"A", DataType::kFp32, {-1, 2, 2}, false, Dims{-1, 4}};
  EXPECT_EQ(Refusal(),
            "unexpected shape for input 'A' for model 'm'. Expected [-1,-1,4], got [2,1].");
}

TEST_F(Validation, AllOutputsWhenNoneIsAskedFor) {
  OneInput();
  message_.Raw("A", "FP32", {1, 16}, 64);
  ASSERT_TRUE(Check().ok());
  EXPECT_THAT(request_.wanted_outputs, ElementsAre(0, 1));
}

// B is supplied by the front end, and X is kept by it.
class SequenceValidation : public Validation {
 protected:
  SequenceValidation() {
    model_.spec.inputs[1].dims = {1};
    model_.facts.sequences.emplace().states = {{"B", "X"}};
  }
};

TEST_F(SequenceValidation, WhatTheFrontEndSuppliesHasShapesAndNoBytesYet) {
  message_.Raw("A", "FP32", {1, 16}, 64);
  ASSERT_TRUE(Check().ok());
  ASSERT_EQ(request_.inputs.size(), 2u);
  EXPECT_EQ(request_.inputs[1].datatype, DataType::kInt64);
  EXPECT_EQ(request_.inputs[1].dims, (Dims{1}));
  EXPECT_EQ(request_.inputs[1].payload, nullptr);
  EXPECT_THAT(request_.wanted_outputs, ElementsAre(1));
}

TEST_F(SequenceValidation, NoClientSendsOrGetsWhatTheFrontEndHas) {
  message_.Raw("A", "FP32", {1, 16}, 64).Wanted("X");
  EXPECT_EQ(Refusal(), "unexpected inference output 'X' for model 'm'");
  message_ = MessageBuilder();
  message_.Raw("B", "INT64", {1, 1}, 8);
  EXPECT_EQ(Refusal(), "unexpected inference input 'B' for model 'm'");
}

TEST_F(Validation, TakesTypedContents) {
  OneInput();
  message_.Typed("A", "FP32", {1, 16}, 64);
  EXPECT_TRUE(Check().ok());
}

TEST_F(Validation, AModelWithoutBatchesHasOneRowOfAllDims) {
  OneInput({2, -1});
  model_.spec.max_batch_size = 0;
  message_.Raw("A", "FP32", {2, 5}, 40);
  ASSERT_TRUE(Check().ok());
  EXPECT_EQ(request_.rows, 1u);
  EXPECT_EQ(request_.inputs[0].dims, (Dims{2, 5}));
}

TEST_F(Validation, ZeroElementsAreValidWhereTheShapeAllows) {
  OneInput({-1});
  message_.Raw("A", "FP32", {2, 0}, 0);
  EXPECT_TRUE(Check().ok());
}

// ---- the table of the protocol ----

MessageBuilder A(std::vector<int64_t> dims, uint64_t bytes, const std::string& datatype = "FP32",
                 const std::string& name = "A") {
  MessageBuilder message;
  message.Raw(name, datatype, std::move(dims), bytes);
  return message;
}

std::string BadShape(const std::string& expected, const std::string& got) {
  return "unexpected shape for input 'A' for model 'm'. Expected [" + expected + "], got [" + got +
         "].";
}

std::string BadCount(const std::string& counts, const std::string& got,
                     const std::string& missing) {
  return "expected " + counts + " inputs for model 'm'. Got input(s) [" + got +
         "], but missing required input(s) [" + missing +
         "]. Please provide all required input(s).";
}

TEST_F(Validation, CountsOfInputs) {
  model_.spec.inputs.push_back({"C", DataType::kFp32, {1}});
  ExpectRefusal(A({1, 16}, 64), BadCount("3 inputs but got 1", "'A'", "'B','C'"));
  OneInput();
  ExpectRefusal(MessageBuilder(), BadCount("1 inputs but got 0", "", "'A'"));
  ExpectRefusal(A({1, 16}, 64).Raw("Z", "FP32", {1, 16}, 64),
                BadCount("1 inputs but got 2", "'A','Z'", ""));
}

TEST_F(Validation, Names) {
  ExpectRefusal(A({1, 16}, 64).Raw("A", "FP32", {1, 16}, 64),
                "input 'A' already exists in request");
  OneInput();
  ExpectRefusal(A({1, 16}, 64, "FP32", "x"), "unexpected inference input 'x' for model 'm'");
  ExpectRefusal(A({1, 16}, 64).Wanted("x"), "unexpected inference output 'x' for model 'm'");
  ExpectRefusal(A({1, 16}, 64).Wanted("X").Wanted("X"), "output 'X' already exists in request");
}

TEST_F(Validation, Datatypes) {
  OneInput();
  for (const std::string datatype : {"INT32", "fp32"}) {
    ExpectRefusal(A({1, 16}, 64, datatype), "inference input 'A' data-type is '" + datatype +
                                                "', but model 'm' expects 'FP32'");
  }
}

TEST_F(Validation, Shapes) {
  OneInput();
  ExpectRefusal(A({1, 15}, 60), BadShape("-1,16", "1,15"));
  ExpectRefusal(A({1}, 64), BadShape("-1,16", "1"));
  ExpectRefusal(A({1, 16, 1}, 64), BadShape("-1,16", "1,16,1"));
  ExpectRefusal(A({-3, 16}, 64), BadShape("-1,16", "-3,16"));
  ExpectRefusal(A({0, 16}, 0), BadShape("-1,16", "0,16"));
  ExpectRefusal(
      A({-1, 16}, 64),
      "All input dimensions should be specified for input 'A' for model 'm', got [-1,16]");
  ExpectRefusal(A({}, 64), "input 'A' has no shape but model requires batch dimension for 'm'");
  model_.spec.max_batch_size = 0;
  ExpectRefusal(A({1, 16}, 64), BadShape("16", "1,16"));
  OneInput({-1});
  model_.spec.max_batch_size = 8;
  ExpectRefusal(A({1, -2}, 64), BadShape("-1,-1", "1,-2"));
}

TEST_F(Validation, Batches) {
  ExpectRefusal(A({2, 16}, 128).Raw("B", "INT64", {1, 1}, 8),
                "input 'B' batch size does not match other inputs for 'm'");
  OneInput();
  ExpectRefusal(A({9, 16}, 576), "inference request batch-size must be <= 8 for 'm'");
  ExpectRefusal(A({kHuge, 16}, 64), "inference request batch-size must be <= 8 for 'm'");
}

TEST_F(Validation, CountsOfBytes) {
  OneInput({8});
  const std::string lead =
      "input byte size mismatch for input 'A' for model 'm'. Expected 32, got ";
  ExpectRefusal(A({1, 8}, 40), lead + "40");
  ExpectRefusal(MessageBuilder().Typed("A", "FP32", {1, 8}, 28), lead + "28");
}

TEST_F(Validation, ProductsThatOverflow) {
  const std::string text = "input 'A' is larger than any tensor can be for model 'm'";
  OneInput({-1});
  for (const int64_t dim : {kHuge, INT64_MAX, INT64_MAX / 4 + 1}) {
    ExpectRefusal(A({1, dim}, 64), text);
  }
  OneInput({-1, -1, -1});
  ExpectRefusal(A({8, int64_t{1} << 32, int64_t{1} << 32, 0}, 0), text);
}

TEST_F(Validation, EntriesOfData) {
  const std::string beside =
      "contents field must not be specified when using raw_input_contents for ";
  MessageBuilder message = A({1, 16}, 64);
  message.Declare("B", "INT64", {1, 1});
  ExpectRefusal(message, "unable to find data for input tensor 'B' for model 'm' in request.");
  ExpectRefusal(A({1, 16}, 64).Typed("B", "INT64", {1, 1}, 8), beside + "'B' for model 'm'");
  OneInput();
  message = A({1, 16}, 64);
  message->raw_count = 2;
  ExpectRefusal(message, "expected 1 raw input contents but got 2 for model 'm'");
  message = MessageBuilder();
  message.Typed("A", "FP32", {1, 16}, 64)->raw_count = 1;
  ExpectRefusal(message, beside + "'A' for model 'm'");
  message = MessageBuilder();
  message.Declare("A", "FP32", {1, 16});
  ExpectRefusal(message, "unable to find data for input tensor 'A' for model 'm' in request.");
}

TEST_F(Validation, ErrorsThatWereFoundBefore) {
  OneInput();
  ExpectRefusal(MessageBuilder().Typed("A", "FP32", {1, 16}, 64, "a typed error"), "a typed error");
  message_.Raw("A", "FP32", {1, 16}, 64)->parameter_error = "invalid value type";
  EXPECT_EQ(Refusal(), "invalid value type");
}

TEST_F(Validation, Bounds) {
  const std::string text = "a request has at most 64 tensors for model 'm'";
  for (size_t i = 0; i <= kMaxTensors; ++i) message_.Declare("A", "FP32", {1, 16});
  EXPECT_EQ(Refusal(), text);
  OneInput();
  message_ = A({1, 16}, 64);
  for (size_t i = 0; i <= kMaxTensors; ++i) message_.Wanted("X");
  EXPECT_EQ(Refusal(), text);
  OneInput(Dims(8, 1));
  ExpectRefusal(A(std::vector<int64_t>(9, 1), 4), "accepted");
  OneInput(Dims(9, 1));
  ExpectRefusal(A(std::vector<int64_t>(10, 1), 4),
                "input 'A' has more than 8 dimensions for model 'm'");
}

TEST_F(Validation, SixtyFourInputsAreServed) {
  model_.spec.inputs.clear();
  for (size_t i = 0; i < kMaxTensors; ++i) {
    const std::string name = "I" + std::to_string(i);
    model_.spec.inputs.push_back({name, DataType::kUint8, {1}});
    message_.Raw(name, "UINT8", {1, 1}, 1);
  }
  EXPECT_TRUE(Check().ok());
}

// ---- whose errors carry the request's id ----

TEST_F(Validation, ErrorsOfTheRequestBeginWithItsId) {
  OneInput();
  message_.Raw("A", "FP32", {1, 15}, 60).Id("17");
  EXPECT_EQ(Refusal(),
            "[request id: 17] unexpected shape for input 'A' for model 'm'. Expected [-1,16], got "
            "[1,15].");
  message_->inputs[0].datatype = "INT8";
  EXPECT_EQ(Refusal(),
            "[request id: 17] inference input 'A' data-type is 'INT8', but model 'm' expects "
            "'FP32'");
  message_->inputs.clear();
  message_->raw_count = 0;
  EXPECT_EQ(Refusal().rfind("[request id: 17] expected 1 inputs but got 0 inputs", 0), 0u);
}

TEST_F(Validation, ErrorsOfNamesParametersAndDataDoNot) {
  OneInput();
  message_.Raw("A", "FP32", {1, 16}, 64).Id("17");
  message_->outputs = {"x"};
  EXPECT_EQ(Refusal(), "unexpected inference output 'x' for model 'm'");
  message_->outputs.clear();
  message_->inputs[0].name = "x";
  EXPECT_EQ(Refusal(), "unexpected inference input 'x' for model 'm'");
  message_->inputs[0].name = "A";
  message_->inputs[0].has_data = false;
  EXPECT_EQ(Refusal(), "unable to find data for input tensor 'A' for model 'm' in request.");
  message_->raw_count = 0;
  message_->inputs[0].has_typed = true;
  message_->inputs[0].typed_error = "unexpected explicit tensor data";
  EXPECT_EQ(Refusal(), "unexpected explicit tensor data");
  message_->parameter_error = "a parameter";
  EXPECT_EQ(Refusal(), "a parameter");
}

// ---- strings ----

class StringValidation : public Validation {
 protected:
  StringValidation() { model_.spec.inputs = {{"T", DataType::kBytes, {2}}}; }

  // A raw input of `dims` with these bytes.
  void Send(std::vector<int64_t> dims, std::string bytes) {
    bytes_ = std::move(bytes);
    InputMessage& input = message_.Declare("T", "BYTES", std::move(dims));
    input.has_data = true;
    input.payload.Append(bytes_);
    message_->raw_count = 1;
  }

  std::string bytes_;
};

TEST_F(StringValidation, KeepsTheBytesOfTheWholeTensor) {
  Send({1, 2}, std::string("\1\0\0\0a\0\0\0\0", 9));
  ASSERT_TRUE(Check().ok());
  EXPECT_EQ(request_.inputs[0].tensor_bytes, 9u);
  EXPECT_EQ(request_.inputs[0].Bytes(1), 9u);
  EXPECT_EQ(request_.inputs[0].payload, &message_->inputs[0].payload);
}

TEST_F(StringValidation, TheElementsOfAllRowsAreCounted) {
  Send({2, 2}, std::string(12, '\0'));
  message_.Id("7");
  EXPECT_EQ(
      Refusal(),
      "[request id: 7] expected 4 string elements for inference input 'T' for model 'm', got 3");
}

TEST_F(StringValidation, FromTypedContentsToo) {
  Send({1, 2}, std::string(4, '\0'));
  message_->raw_count = 0;
  message_->inputs[0].has_typed = true;
  EXPECT_EQ(Refusal(), "expected 2 string elements for inference input 'T' for model 'm', got 1");
}

}  // namespace
}  // namespace mpsd
