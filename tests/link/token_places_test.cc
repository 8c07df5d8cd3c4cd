#include "proto/link/token_places.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

ModelSpec SpecOf(DataType datatype, int64_t length) {
  ModelSpec spec;
  spec.max_batch_size = 8;
  spec.inputs = {{"input_ids", datatype, {length}}, {"attention_mask", datatype, {length}}};
  return spec;
}

TEST(TokenPlaces, AreFoundByNameWhereverTheyStand) {
  ModelSpec spec = SpecOf(DataType::kInt64, -1);
  spec.inputs.insert(spec.inputs.begin(),
                     TensorSpec{"token_type_ids", DataType::kInt64, {-1}, true});
  const auto places = FindTokenPlaces(spec);
  ASSERT_TRUE(places.has_value());
  EXPECT_EQ(places->ids, 1u);
  EXPECT_EQ(places->mask, 2u);
  EXPECT_EQ(places->types, 0u);
}

TEST(TokenPlaces, AreRowsOfWholeNumbersOfAModelThatBatches) {
  EXPECT_TRUE(FindTokenPlaces(SpecOf(DataType::kInt32, 16)).has_value());
  EXPECT_FALSE(FindTokenPlaces(SpecOf(DataType::kFp32, -1)).has_value());
  ModelSpec spec = SpecOf(DataType::kInt64, -1);
  spec.inputs[1].dims = {-1, 2};
  EXPECT_FALSE(FindTokenPlaces(spec).has_value());
  spec = SpecOf(DataType::kInt64, -1);
  spec.max_batch_size = 0;
  EXPECT_FALSE(FindTokenPlaces(spec).has_value());
  spec = SpecOf(DataType::kInt64, -1);
  spec.inputs[0].client_dims = Dims{-1, 1};
  EXPECT_FALSE(FindTokenPlaces(spec).has_value()) << "clients send another shape";
  spec = SpecOf(DataType::kInt64, -1);
  spec.inputs.pop_back();
  EXPECT_FALSE(FindTokenPlaces(spec).has_value());
}

}  // namespace
}  // namespace mpsd
