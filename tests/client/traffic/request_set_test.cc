#include "client/traffic/request_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "client/tensor.h"
#include "proto/inference.pb.h"

namespace mpsd::traffic {
namespace {

inference::ModelInferRequest Parse(const PreparedRequest& prepared) {
  grpc::Slice slice;
  EXPECT_TRUE(prepared.bytes.DumpToSingleSlice(&slice).ok());
  inference::ModelInferRequest request;
  EXPECT_TRUE(request.ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
  return request;
}

RequestPlan PlanOf(const std::vector<std::string>& inputs, std::vector<int64_t> lengths) {
  RequestPlan plan{.model = "m", .lengths = std::move(lengths)};
  for (const std::string& text : inputs) plan.inputs.push_back(*ParseInputPlan(text));
  return plan;
}

TEST(RequestSet, EncodesModelShapeAndRawContents) {
  const auto requests = PrepareRequests(PlanOf({"INPUT0:FP32[1,256]"}, {}));
  ASSERT_TRUE(requests.ok());
  ASSERT_EQ(requests->size(), 1u);
  const auto request = Parse(requests->front());
  EXPECT_EQ(request.model_name(), "m");
  ASSERT_EQ(request.inputs_size(), 1);
  EXPECT_EQ(request.inputs(0).name(), "INPUT0");
  EXPECT_EQ(request.inputs(0).datatype(), "FP32");
  EXPECT_EQ(request.inputs(0).shape(1), 256);
  ASSERT_EQ(request.raw_input_contents_size(), 1);
  EXPECT_EQ(request.raw_input_contents(0).size(), 1024u);
  EXPECT_EQ(request.raw_input_contents(0), requests->front().payload);
}

TEST(RequestSet, MakesOneRequestALength) {
  const auto requests =
      PrepareRequests(PlanOf({"ids:INT64[1,-1]=0..1000", "mask:INT64[1,-1]=1"}, {8, 30}));
  ASSERT_TRUE(requests.ok());
  ASSERT_EQ(requests->size(), 2u);
  const auto request = Parse((*requests)[1]);
  EXPECT_EQ(request.inputs(0).shape(1), 30);
  ASSERT_EQ(request.raw_input_contents_size(), 2);
  EXPECT_EQ(request.raw_input_contents(1).size(), 30 * sizeof(int64_t));
  int64_t last = 0;
  std::memcpy(&last, request.raw_input_contents(1).data() + 29 * sizeof(last), sizeof(last));
  EXPECT_EQ(last, 1);
}

TEST(RequestSet, RefusesAnOpenDimWithoutLengths) {
  EXPECT_FALSE(PrepareRequests(PlanOf({"ids:INT64[1,-1]"}, {})).ok());
}

TEST(RequestSet, MakesVariantsOfEachLength) {
  RequestPlan plan = PlanOf({"x:FP32[-1]"}, {4, 8});
  plan.variants = 3;
  const auto requests = PrepareRequests(plan);
  ASSERT_TRUE(requests.ok());
  ASSERT_EQ(requests->size(), 6u);
  EXPECT_EQ((*requests)[2].payload.size(), 4 * sizeof(float));
  EXPECT_EQ((*requests)[3].payload.size(), 8 * sizeof(float));
  EXPECT_NE((*requests)[0].payload, (*requests)[1].payload);
}

TEST(RequestSet, DrawsTextsOfSomeWords) {
  const auto requests = PrepareRequests(PlanOf({"text:BYTES[20,1]=2..5"}, {}));
  ASSERT_TRUE(requests.ok());
  const auto texts = client::UnpackBytes(requests->front().payload);
  ASSERT_TRUE(texts.ok());
  ASSERT_EQ(texts->size(), 20u);
  std::set<int64_t> sizes;
  for (const std::string& text : *texts)
    sizes.insert(1 + std::count(text.begin(), text.end(), ' '));
  EXPECT_GE(*sizes.begin(), 2);
  EXPECT_LE(*sizes.rbegin(), 5);
  EXPECT_GT(sizes.size(), 1u);
}

TEST(RequestSet, SendsContentsAsTheyAre) {
  RequestPlan plan = PlanOf({"x:FP32[1,2]"}, {});
  plan.inputs.front().contents = "12345678";
  const auto requests = PrepareRequests(plan);
  ASSERT_TRUE(requests.ok());
  EXPECT_EQ(Parse(requests->front()).raw_input_contents(0), "12345678");
}

TEST(RequestSet, RefusesBadRanges) {
  EXPECT_FALSE(ParseInputPlan("text:BYTES[1]=0..3").ok());
  EXPECT_FALSE(ParseInputPlan("text:BYTES[1]=1..20000").ok());
  EXPECT_FALSE(ParseInputPlan("x:FP32[1]=a").ok());
  EXPECT_FALSE(ParseInputPlan("x:FP32[1]=2..1").ok());
  EXPECT_FALSE(ParseInputPlan("x:FP32[1]=1..2..3").ok());
  EXPECT_TRUE(ParseInputPlan("x:FP32[1]=-1..1").ok());
}

}  // namespace
}  // namespace mpsd::traffic
