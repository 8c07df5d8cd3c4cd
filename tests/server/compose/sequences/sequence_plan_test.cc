#include "server/compose/sequences/sequence_plan.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

ModelSpec Spec() {
  ModelSpec spec;
  spec.max_batch_size = 4;
  spec.inputs = {{"x", DataType::kFp32, {3}},    {"START", DataType::kInt32, {1}},
                 {"END", DataType::kBool, {1}},  {"ID", DataType::kUint64, {1}},
                 {"a", DataType::kFp32, {2, 2}}, {"b", DataType::kInt64, {1}}};
  spec.outputs = {{"y", DataType::kFp32, {3}},
                  {"b_out", DataType::kInt64, {1}},
                  {"a_out", DataType::kFp32, {2, 2}}};
  return spec;
}

SequencePolicy Policy() {
  SequencePolicy policy;
  policy.start = {"START", 5, 6};
  policy.end.input = "END";
  policy.id_input = "ID";
  policy.states = {{"a", "a_out"}, {"b", "b_out"}};
  return policy;
}

std::string FaultOf(const SequencePolicy& policy, const ModelSpec& spec) {
  const absl::StatusOr<SequencePlan> plan = SequencePlan::Of(policy, spec);
  EXPECT_TRUE(absl::IsFailedPrecondition(plan.status()));
  return std::string(plan.status().message());
}

TEST(SequencePlan, FindsTheTensorsOfThePolicy) {
  const absl::StatusOr<SequencePlan> plan = SequencePlan::Of(Policy(), Spec());
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_TRUE(plan->start.has_value());
  EXPECT_EQ(plan->start->input, 1u);
  EXPECT_EQ(plan->start->Value(false), std::string("\5\0\0\0", 4));
  EXPECT_EQ(plan->start->Value(true), std::string("\6\0\0\0", 4));
  EXPECT_FALSE(plan->ready.has_value());
  EXPECT_EQ(plan->end->Value(true), std::string("\1", 1));
  EXPECT_EQ(plan->id->input, 3u);
  ASSERT_EQ(plan->states.size(), 2u);
  EXPECT_EQ(plan->states[0].output, 2u);
  EXPECT_EQ(plan->states[0].bytes, 16u);
  EXPECT_EQ(plan->states[1].offset, 16u);
  EXPECT_EQ(plan->state_bytes, 24u);
}

TEST(SequencePlan, RefusesTensorsThatTheModelHasNot) {
  SequencePolicy policy = Policy();
  policy.start.input = "BEGIN";
  EXPECT_EQ(FaultOf(policy, Spec()), "sequences: 'BEGIN' is no input of the model");
  policy = Policy();
  policy.states[0].output = "c_out";
  EXPECT_EQ(FaultOf(policy, Spec()), "sequences: 'c_out' is no output of the model");
}

TEST(SequencePlan, RefusesTensorsOfAnotherForm) {
  ModelSpec spec = Spec();
  spec.inputs[1].datatype = DataType::kFp64;
  EXPECT_NE(FaultOf(Policy(), spec).find("INT32, FP32 or BOOL"), std::string::npos);
  spec = Spec();
  spec.inputs[2].dims = {2};
  EXPECT_NE(FaultOf(Policy(), spec).find("one element"), std::string::npos);
  spec = Spec();
  spec.inputs[3].datatype = DataType::kFp32;
  EXPECT_NE(FaultOf(Policy(), spec).find("'ID' must be one element"), std::string::npos);
  spec = Spec();
  spec.inputs[4].dims = {2, -1};
  EXPECT_EQ(FaultOf(Policy(), spec), "sequences: 'a' must have a known shape");
  spec = Spec();
  spec.outputs[2].dims = {4};
  EXPECT_EQ(FaultOf(Policy(), spec), "sequences: 'a_out' must have the type and shape of 'a'");
}

TEST(SequencePlan, RefusesADecoupledModel) {
  ModelSpec spec = Spec();
  spec.decoupled = true;
  EXPECT_EQ(FaultOf(Policy(), spec), "sequences: the model is decoupled");
}

TEST(SequencePlan, TakesIdsThatTheModelCanHold) {
  ModelSpec spec = Spec();
  SequenceMark number;
  number.number = 1ULL << 32;
  SequenceMark text;
  text.name = "a";
  EXPECT_TRUE(SequencePlan::Of(Policy(), spec)->CheckId(number).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(SequencePlan::Of(Policy(), spec)->CheckId(text)));
  spec.inputs[3].datatype = DataType::kUint32;
  EXPECT_TRUE(absl::IsInvalidArgument(SequencePlan::Of(Policy(), spec)->CheckId(number)));
  spec.inputs[3].datatype = DataType::kInt32;
  EXPECT_TRUE(absl::IsInvalidArgument(SequencePlan::Of(Policy(), spec)->CheckId(number)));
  number.number = static_cast<uint64_t>(int64_t{-3});
  EXPECT_TRUE(SequencePlan::Of(Policy(), spec)->CheckId(number).ok());
  spec.inputs[3].datatype = DataType::kBytes;
  EXPECT_TRUE(SequencePlan::Of(Policy(), spec)->CheckId(text).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(SequencePlan::Of(Policy(), spec)->CheckId(number)));
}

}  // namespace
}  // namespace mpsd
