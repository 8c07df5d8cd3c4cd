#include "server/admit/validator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// ---- the table of the protocol, row by row ----

TEST_F(Validation, InputCount) {
  model_.spec.inputs.push_back({"C", DataType::kFp32, {1}});
  message_.Raw("A", "FP32", {1, 16}, 64);
  EXPECT_EQ(Refusal(),
            "expected 3 inputs but got 1 inputs for model 'm'. Got input(s) ['A'], but missing "
            "required input(s) ['B','C']. Please provide all required input(s).");
}

TEST_F(Validation, TooManyInputs) {
  OneInput();
  message_.Raw("A", "FP32", {1, 16}, 64).Raw("Z", "FP32", {1, 16}, 64);
  EXPECT_EQ(Refusal(),
            "expected 1 inputs but got 2 inputs for model 'm'. Got input(s) ['A','Z'], but missing "
            "required input(s) []. Please provide all required input(s).");
}

TEST_F(Validation, NoInputAtAll) {
  OneInput();
  EXPECT_EQ(Refusal(),
            "expected 1 inputs but got 0 inputs for model 'm'. Got input(s) [], but missing "
            "required input(s) ['A']. Please provide all required input(s).");
}

TEST_F(Validation, UnknownInput) {
  OneInput();
  message_.Raw("x", "FP32", {1, 16}, 64);
  EXPECT_EQ(Refusal(), "unexpected inference input 'x' for model 'm'");
}

TEST_F(Validation, UnknownOutput) {
  OneInput();
  message_.Raw("A", "FP32", {1, 16}, 64).Wanted("x");
  EXPECT_EQ(Refusal(), "unexpected inference output 'x' for model 'm'");
}

TEST_F(Validation, DuplicateInput) {
  message_.Raw("A", "FP32", {1, 16}, 64).Raw("A", "FP32", {1, 16}, 64);
  EXPECT_EQ(Refusal(), "input 'A' already exists in request");
}

TEST_F(Validation, DuplicateOutput) {
  OneInput();
  message_.Raw("A", "FP32", {1, 16}, 64).Wanted("X").Wanted("X");
  EXPECT_EQ(Refusal(), "output 'X' already exists in request");
}

TEST_F(Validation, Datatype) {
  OneInput();
  message_.Raw("A", "INT32", {1, 16}, 64);
  EXPECT_EQ(Refusal(), "inference input 'A' data-type is 'INT32', but model 'm' expects 'FP32'");
}

TEST_F(Validation, DatatypeThatThereIsNot) {
  OneInput();
  message_.Raw("A", "fp32", {1, 16}, 64);
  EXPECT_EQ(Refusal(), "inference input 'A' data-type is 'fp32', but model 'm' expects 'FP32'");
}

TEST_F(Validation, Shape) {
  OneInput();
  message_.Raw("A", "FP32", {1, 15}, 60);
  EXPECT_EQ(Refusal(),
            "unexpected shape for input 'A' for model 'm'. Expected [-1,16], got [1,15].");
}

TEST_F(Validation, RankTooSmall) {
  OneInput();
  message_.Raw("A", "FP32", {1}, 64);
  EXPECT_EQ(Refusal(), "unexpected shape for input 'A' for model 'm'. Expected [-1,16], got [1].");
}

TEST_F(Validation, RankTooLarge) {
  OneInput();
  message_.Raw("A", "FP32", {1, 16, 1}, 64);
  EXPECT_EQ(Refusal(),
            "unexpected shape for input 'A' for model 'm'. Expected [-1,16], got [1,16,1].");
}

TEST_F(Validation, ShapeOfAModelWithoutBatches) {
  OneInput();
  model_.spec.max_batch_size = 0;
  message_.Raw("A", "FP32", {1, 16}, 64);
  EXPECT_EQ(Refusal(), "unexpected shape for input 'A' for model 'm'. Expected [16], got [1,16].");
}

TEST_F(Validation, UnspecifiedDimInARequest) {
  OneInput();
  message_.Raw("A", "FP32", {-1, 16}, 64);
  EXPECT_EQ(Refusal(),
            "All input dimensions should be specified for input 'A' for model 'm', got [-1,16]");
}

TEST_F(Validation, NegativeDim) {
  OneInput({-1});
  message_.Raw("A", "FP32", {1, -2}, 64);
  EXPECT_EQ(Refusal(),
            "unexpected shape for input 'A' for model 'm'. Expected [-1,-1], got [1,-2].");
}

TEST_F(Validation, NegativeBatch) {
  OneInput();
  message_.Raw("A", "FP32", {-3, 16}, 64);
  EXPECT_EQ(Refusal(),
            "unexpected shape for input 'A' for model 'm'. Expected [-1,16], got [-3,16].");
}

TEST_F(Validation, BatchOfZero) {
  OneInput();
  message_.Raw("A", "FP32", {0, 16}, 0);
  EXPECT_EQ(Refusal(),
            "unexpected shape for input 'A' for model 'm'. Expected [-1,16], got [0,16].");
}

TEST_F(Validation, NoBatchDim) {
  OneInput();
  message_.Raw("A", "FP32", {}, 64);
  EXPECT_EQ(Refusal(), "input 'A' has no shape but model requires batch dimension for 'm'");
}

TEST_F(Validation, BatchesThatDisagree) {
  message_.Raw("A", "FP32", {2, 16}, 128).Raw("B", "INT64", {1, 1}, 8);
  EXPECT_EQ(Refusal(), "input 'B' batch size does not match other inputs for 'm'");
}

TEST_F(Validation, BatchTooLarge) {
  OneInput();
  message_.Raw("A", "FP32", {9, 16}, 576);
  EXPECT_EQ(Refusal(), "inference request batch-size must be <= 8 for 'm'");
}

TEST_F(Validation, BatchOf2To62) {
  OneInput();
  message_.Raw("A", "FP32", {kHuge, 16}, 64);
  EXPECT_EQ(Refusal(), "inference request batch-size must be <= 8 for 'm'");
}

TEST_F(Validation, ByteCount) {
  OneInput({8});
  message_.Raw("A", "FP32", {1, 8}, 40);
  EXPECT_EQ(Refusal(), "input byte size mismatch for input 'A' for model 'm'. Expected 32, got 40");
}

TEST_F(Validation, ByteCountOfTypedContents) {
  OneInput({8});
  message_.Typed("A", "FP32", {1, 8}, 28);
  EXPECT_EQ(Refusal(), "input byte size mismatch for input 'A' for model 'm'. Expected 32, got 28");
}

TEST_F(Validation, ProductsThatOverflow) {
  OneInput({-1});
  for (const int64_t dim : {kHuge, INT64_MAX, INT64_MAX / 4 + 1}) {
    MessageBuilder message;
    message.Raw("A", "FP32", {1, dim}, 64);
    const absl::Status status = Validate(*message, model_, &request_);
    EXPECT_EQ(status, absl::InvalidArgumentError(
                          "input 'A' is larger than any tensor can be for model 'm'"))
        << dim;
    request_.Reset();
  }
}

TEST_F(Validation, ProductsOfSeveralDimsThatOverflow) {
  OneInput({-1, -1, -1});
  message_.Raw("A", "FP32", {8, int64_t{1} << 32, int64_t{1} << 32, 0}, 0);
  EXPECT_NE(Refusal().find("larger than any tensor can be"), std::string::npos);
}

TEST_F(Validation, NoData) {
  OneInput();
  message_.Declare("A", "FP32", {1, 16});
  EXPECT_EQ(Refusal(), "unable to find data for input tensor 'A' for model 'm' in request.");
}

TEST_F(Validation, TooFewRawEntries) {
  message_.Raw("A", "FP32", {1, 16}, 64);
  message_.Declare("B", "INT64", {1, 1});
  EXPECT_EQ(Refusal(), "unable to find data for input tensor 'B' for model 'm' in request.");
}

TEST_F(Validation, TooManyRawEntries) {
  OneInput();
  message_.Raw("A", "FP32", {1, 16}, 64);
  message_->raw_count = 2;
  EXPECT_EQ(Refusal(), "expected 1 raw input contents but got 2 for model 'm'");
}

TEST_F(Validation, RawAndContents) {
  OneInput();
  message_.Typed("A", "FP32", {1, 16}, 64);
  message_->raw_count = 1;
  EXPECT_EQ(Refusal(),
            "contents field must not be specified when using raw_input_contents for 'A' for model "
            "'m'");
}

TEST_F(Validation, RawForOneInputAndContentsForAnother) {
  message_.Raw("A", "FP32", {1, 16}, 64).Typed("B", "INT64", {1, 1}, 8);
  EXPECT_EQ(Refusal(),
            "contents field must not be specified when using raw_input_contents for 'B' for model "
            "'m'");
}

TEST_F(Validation, WrongTypedField) {
  OneInput();
  const std::string error =
      "unexpected explicit tensor data for input tensor 'A' for model 'm' of type 'INT32', "
      "expected datatype 'FP32'";
  message_.Typed("A", "FP32", {1, 16}, 64, error);
  EXPECT_EQ(Refusal(), error);
}

TEST_F(Validation, ParameterType) {
  OneInput();
  message_.Raw("A", "FP32", {1, 16}, 64);
  message_->parameter_error =
      "invalid value type for 'priority' parameter, expected int64_param or uint64_param.";
  EXPECT_EQ(Refusal(), message_->parameter_error);
}

// ---- bounds ----

TEST_F(Validation, SixtyFiveInputs) {
  for (size_t i = 0; i <= kMaxTensors; ++i) message_.Declare("A", "FP32", {1, 16});
  EXPECT_EQ(Refusal(), "a request has at most 64 tensors for model 'm'");
}

TEST_F(Validation, SixtyFiveOutputs) {
  OneInput();
  message_.Raw("A", "FP32", {1, 16}, 64);
  for (size_t i = 0; i <= kMaxTensors; ++i) message_.Wanted("X");
  EXPECT_EQ(Refusal(), "a request has at most 64 tensors for model 'm'");
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

TEST_F(Validation, RankNineWithoutTheBatchDim) {
  OneInput(Dims(9, 1));
  message_.Raw("A", "FP32", std::vector<int64_t>(10, 1), 4);
  EXPECT_EQ(Refusal(), "input 'A' has more than 8 dimensions for model 'm'");
}

TEST_F(Validation, RankEightIsServed) {
  OneInput(Dims(8, 1));
  message_.Raw("A", "FP32", std::vector<int64_t>(9, 1), 4);
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
