#include "server/request/graph/member_fit.h"

#include <gmock/gmock.h>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// x ─▶ first: i, o ─▶ t ─▶ second: i, o ─▶ y, all FP32[16] in batches of 8.
class MemberFit : public testing::Test {
 protected:
  static ModelSpec Spec(const char* input, const char* output) {
    ModelSpec spec;
    spec.max_batch_size = 8;
    spec.inputs = {{input, DataType::kFp32, {16}}};
    spec.outputs = {{output, DataType::kFp32, {16}}};
    return spec;
  }

  std::vector<std::string> Faults() {
    std::vector<StepFault> wrong;
    const std::vector<ModelStep> steps = {{"first", "", {{"i", "x"}}, {{"o", "t"}}},
                                          {"second", "", {{"i", "t"}}, {{"o", "y"}}}};
    const StepGraph graph = StepGraph::Of("whole", whole_, steps, &wrong);
    EXPECT_TRUE(wrong.empty());
    const Member members[] = {{&first_, is_complete_},
                              {knows_second_ ? &second_ : nullptr, true, second_rows_}};
    std::vector<std::string> texts;
    for (const StepFault& fault : MemberFaults(graph, whole_, members)) {
      texts.push_back(fault.path + ": " + fault.what);
    }
    return texts;
  }

  ModelSpec whole_ = Spec("x", "y");
  ModelSpec first_ = Spec("i", "o");
  ModelSpec second_ = Spec("i", "o");
  bool is_complete_ = true;
  bool knows_second_ = true;
  uint32_t second_rows_ = 0;  // a request's rows
};

TEST_F(MemberFit, WhatIsTheSameFits) { EXPECT_THAT(Faults(), IsEmpty()); }

TEST_F(MemberFit, AnOpenDimFitsEveryLength) {
  first_.outputs[0].dims = {-1};
  EXPECT_THAT(Faults(), IsEmpty());
  second_.inputs[0].dims = {-1};
  EXPECT_THAT(Faults(), IsEmpty());
  first_.outputs[0].dims = {16};
  EXPECT_THAT(Faults(), IsEmpty());
}

TEST_F(MemberFit, AnotherDatatype) {
  first_.outputs[0].datatype = DataType::kInt64;
  EXPECT_THAT(Faults(), ElementsAre("steps[1].inputs.i: 't' is made as INT64 and read as FP32"));
}

TEST_F(MemberFit, AnotherShape) {
  second_.inputs[0].dims = {4, 4};
  EXPECT_THAT(Faults(),
              ElementsAre("steps[1].inputs.i: 't' is made as [-1,16] and read as [-1,4,4]"));
}

TEST_F(MemberFit, TheEndsAreCompared) {
  first_.inputs[0].dims = {15};
  second_.outputs[0].dims = {17};
  EXPECT_THAT(Faults(), ElementsAre("steps[0].inputs.i: 'x' is made as [-1,16] and read as [-1,15]",
                                    "outputs[0]: 'y' is made as [-1,17] and read as [-1,16]"));
}

TEST_F(MemberFit, AShapeOfClientsIsTheOneThatCounts) {
  second_.inputs[0].client_dims = Dims{16};
  second_.inputs[0].dims = {4, 4};
  EXPECT_THAT(Faults(), IsEmpty());
}

TEST_F(MemberFit, NamesThatTheMemberLacks) {
  first_.outputs[0].name = "other";
  second_.inputs.push_back({"more", DataType::kFp32, {1}});
  EXPECT_THAT(Faults(),
              ElementsAre("steps[0].outputs.o: model 'first' has no such output",
                          "steps[1].inputs: has nothing for input 'more' of model 'second'"));
  first_.outputs[0].name = "o";
  second_.inputs[1].optional = true;
  EXPECT_THAT(Faults(), IsEmpty());
  second_.inputs[0].name = "other";
  EXPECT_THAT(Faults(), testing::Contains("steps[1].inputs.i: model 'second' has no such input"));
}

TEST_F(MemberFit, BatchesThatAreTooSmall) {
  second_.max_batch_size = 4;
  EXPECT_THAT(Faults(), ElementsAre("steps[1].model: 'second' takes requests of 4 rows, and "
                                    "max_batch_size here is 8"));
  second_.max_batch_size = 16;
  EXPECT_THAT(Faults(), IsEmpty());
}

TEST_F(MemberFit, AMemberMayTakeRequestsThatAreLargerThanItsBatches) {
  second_.max_batch_size = 4;
  second_rows_ = 8;
  EXPECT_THAT(Faults(), IsEmpty());
  second_rows_ = 7;
  EXPECT_THAT(Faults(), ElementsAre("steps[1].model: 'second' takes requests of 7 rows, and "
                                    "max_batch_size here is 8"));
}

TEST_F(MemberFit, AMemberWithoutABatchDimBehindOneWith) {
  second_.max_batch_size = 0;
  second_.inputs[0].dims = second_.outputs[0].dims = {-1, 16};
  EXPECT_THAT(Faults(), ElementsAre("steps[1].model: 'second' takes requests of 0 rows, and "
                                    "max_batch_size here is 8"));
}

TEST_F(MemberFit, AWholeWithoutABatchDimHasItAmongItsDims) {
  whole_.max_batch_size = 0;
  EXPECT_THAT(Faults(), ElementsAre("steps[0].inputs.i: 'x' is made as [16] and read as [-1,16]",
                                    "outputs[0]: 'y' is made as [-1,16] and read as [16]"));
  whole_.inputs[0].dims = whole_.outputs[0].dims = {-1, 16};
  EXPECT_THAT(Faults(), IsEmpty());
}

TEST_F(MemberFit, ADecoupledMember) {
  whole_.max_batch_size = first_.max_batch_size = second_.max_batch_size = 0;
  second_.decoupled = true;
  EXPECT_THAT(Faults(), ElementsAre("steps[1].model: 'second' is decoupled"));
}

TEST_F(MemberFit, WhatIsNotKnownIsNotCompared) {
  knows_second_ = false;
  first_.outputs[0].dims = {3};
  EXPECT_THAT(Faults(), IsEmpty());
  is_complete_ = false;
  first_.max_batch_size = 0;  // the file may say another
  first_.inputs[0].dims = {15};
  first_.outputs.clear();
  EXPECT_THAT(Faults(), IsEmpty());
  first_.inputs[0].datatype = DataType::kBool;
  EXPECT_THAT(Faults(), ElementsAre("steps[0].inputs.i: 'x' is made as FP32 and read as BOOL"));
}

}  // namespace
}  // namespace mpsd
