#include "server/supervise/servable_spec.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "proto/link/messages.h"

namespace mpsd {
namespace {

ModelSpec Sane() {
  ModelSpec spec;
  spec.max_batch_size = 8;
  spec.inputs = {{"ids", DataType::kInt64, {-1}}};
  spec.outputs = {{"out", DataType::kFp32, {-1, 4}}};
  spec.pad = {{"ids", 0, {16, 32}, 0, {{"out", 0}}}};
  return spec;
}

TEST(ServableSpec, TakesASaneOne) { EXPECT_TRUE(CheckServable(Sane()).ok()); }

TEST(ServableSpec, RefusesAModelWithoutTensors) {
  ModelSpec spec = Sane();
  spec.outputs.clear();
  spec.pad.clear();
  EXPECT_FALSE(CheckServable(spec).ok());
}

TEST(ServableSpec, RefusesPaddingThatNamesNoInput) {
  ModelSpec spec = Sane();
  spec.pad[0].input.clear();
  EXPECT_FALSE(CheckServable(spec).ok());
}

TEST(ServableSpec, RefusesPaddingOfAFixedDim) {
  ModelSpec spec = Sane();
  spec.inputs[0].dims = {16};
  EXPECT_FALSE(CheckServable(spec).ok());
}

TEST(ServableSpec, RefusesACutThatNamesNoOutput) {
  ModelSpec spec = Sane();
  spec.pad[0].outputs[0].dim = 7;
  EXPECT_FALSE(CheckServable(spec).ok());
}

TEST(ServableSpec, RefusesPaddingOfAModelThatDoesNotBatch) {
  ModelSpec spec = Sane();
  spec.max_batch_size = 0;
  EXPECT_FALSE(CheckServable(spec).ok());
}

TEST(ServableSpec, RefusesBucketsAndRowsBeyondAllMeasure) {
  ModelSpec spec = Sane();
  spec.pad[0].buckets = {int64_t{1} << 58};
  EXPECT_FALSE(CheckServable(spec).ok());
  spec = Sane();
  spec.inputs.push_back({"wide", DataType::kFp32, {int64_t{1} << 40, int64_t{1} << 19}});
  EXPECT_FALSE(CheckServable(spec).ok());
}

TEST(ServableSpec, TakesStringsButPadsAndCutsNone) {
  ModelSpec spec = Sane();
  spec.inputs.push_back({"text", DataType::kBytes, {2}});
  spec.outputs.push_back({"words", DataType::kBytes, {-1}});
  EXPECT_TRUE(CheckServable(spec).ok());
  spec.pad[0].outputs.push_back({"words", 0});
  EXPECT_FALSE(CheckServable(spec).ok());
  spec = Sane();
  spec.inputs[0].datatype = DataType::kBytes;
  EXPECT_FALSE(CheckServable(spec).ok());
}

TEST(ServableSpec, AWorkerMayNotChooseAPrecisionThatWasNotLeftToIt) {
  EXPECT_TRUE(CheckPrecision(Precision::kFp16, Precision::kFp16).ok());
  EXPECT_FALSE(CheckPrecision(Precision::kFp16, Precision::kFp32).ok());
  for (const Precision open : {Precision::kAsSaved, Precision::kAuto}) {
    EXPECT_TRUE(CheckPrecision(open, Precision::kAsSaved).ok());
    EXPECT_TRUE(CheckPrecision(open, Precision::kBf16).ok());
    EXPECT_FALSE(CheckPrecision(open, Precision::kAuto).ok());
  }
}

TEST(ServableSpec, LabelsAreBoundedByCountAndBytes) {
  EXPECT_TRUE(CheckLabels({}).ok());
  std::vector<std::string> labels(kMaxLabels);
  EXPECT_TRUE(CheckLabels(labels).ok());
  labels.emplace_back();
  EXPECT_FALSE(CheckLabels(labels).ok());
  labels = {std::string(kMaxLabelsBytes - 1, 'x'), "y"};
  EXPECT_TRUE(CheckLabels(labels).ok());
  labels[1] = "yz";
  EXPECT_FALSE(CheckLabels(labels).ok());
}

}  // namespace
}  // namespace mpsd
