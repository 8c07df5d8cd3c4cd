#include "worker/model/trial_dims.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

// ids[-1,3], whose open dim is padded to 16 or 32; mask[-1], which no rule pads.
ModelSpec PaddedSpec(uint32_t max_batch_size) {
  ModelSpec spec;
  spec.max_batch_size = max_batch_size;
  spec.inputs = {{"ids", DataType::kInt64, {-1, 3}}, {"mask", DataType::kBool, {-1}}};
  spec.pad = {{"ids", 0, {16, 32}, 0, {}}};
  return spec;
}

TEST(TrialDims, BeginWithTheRowsWhereTheModelBatches) {
  const ModelSpec batching = PaddedSpec(8);
  EXPECT_EQ(TrialDims(batching, batching.inputs[0], 5, 0, 1), (Dims{5, 16, 3}));
  const ModelSpec single = PaddedSpec(0);
  EXPECT_EQ(TrialDims(single, single.inputs[0], 5, 0, 1), (Dims{16, 3}));
}

TEST(TrialDims, GiveAPaddedDimItsBucketsAndThenTheLast) {
  const ModelSpec spec = PaddedSpec(0);
  EXPECT_EQ(TrialDims(spec, spec.inputs[0], 1, 1, 7), (Dims{32, 3}));
  EXPECT_EQ(TrialDims(spec, spec.inputs[0], 1, 9, 7), (Dims{32, 3}));
}

TEST(TrialDims, GiveAnotherOpenDimTheAskedLength) {
  const ModelSpec spec = PaddedSpec(0);
  EXPECT_EQ(TrialDims(spec, spec.inputs[1], 1, 1, 7), (Dims{7}));
}

}  // namespace
}  // namespace mpsd
