#include "proto/link/census.h"

#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace mpsd {
namespace {

TEST(Census, CountsOperatorsByKind) {
  Census census;
  for (const char* name :
       {"aten::layer_norm", "aten.native_layer_norm.default", "aten::scaled_dot_product_attention",
        "aten::linear", "aten.addmm.default", "aten::conv1d", "aten::_convolution", "aten::matmul",
        "aten.bmm.default", "aten::embedding", "aten::lstm", "aten::contiguous", "aten::relu"}) {
    CountOperator(name, &census);
  }
  EXPECT_EQ(census.operators, 13u);
  EXPECT_EQ(census.layer_norm, 2u);
  EXPECT_EQ(census.attention, 1u);
  EXPECT_EQ(census.linear, 2u);
  EXPECT_EQ(census.convolution, 2u);
  EXPECT_EQ(census.matmul, 2u);
  EXPECT_EQ(census.embedding, 1u);
  EXPECT_EQ(census.recurrent, 1u);
  EXPECT_EQ(census.contiguous, 1u);
}

TEST(Census, AnOperatorHasOneKind) {
  Census census;
  CountOperator("aten::_native_multi_head_attention", &census);
  EXPECT_EQ(census.attention, 1u) << "though its name has two words for it";
}

TEST(Census, ComesBackFromJson) {
  Census census;
  census.known = true;
  census.linear = 3;
  census.parameter_bytes = 1ULL << 40;
  census.parameter_dtypes = {"BF16", "FP32"};
  const Census read = CensusFromJson(ToJson(census)).value();
  EXPECT_EQ(read, census);
}

TEST(Census, OfAHostileWorkerIsRefused) {
  for (const char* text :
       {"[]", R"({"linear": -1})", R"({"linear": 4294967296})", R"({"linear": "3"})",
        R"({"known": 1})", R"({"parameter_bytes": -5})", R"({"parameter_dtypes": [3]})"}) {
    EXPECT_FALSE(CensusFromJson(nlohmann::json::parse(text)).ok()) << text;
  }
  EXPECT_TRUE(CensusFromJson(nlohmann::json::parse("{}")).ok());
}

}  // namespace
}  // namespace mpsd
