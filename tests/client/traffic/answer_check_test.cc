#include "client/traffic/answer_check.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "proto/inference.pb.h"

namespace mpsd::traffic {
namespace {

// In slices of three bytes, so that every field straddles some.
grpc::ByteBuffer Buffer(const std::string& bytes) {
  std::vector<grpc::Slice> slices;
  for (size_t i = 0; i < bytes.size(); i += 3) slices.emplace_back(bytes.substr(i, 3));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

grpc::ByteBuffer Answer(const std::vector<std::string>& raw) {
  inference::ModelInferResponse response;
  response.set_model_name("identity");
  response.set_id("7");
  for (const std::string& bytes : raw) {
    response.add_outputs()->set_name("OUTPUT0");
    response.add_raw_output_contents(bytes);
  }
  return Buffer(response.SerializeAsString());
}

std::vector<PreparedRequest> Requests() {
  inference::ModelInferRequest request;
  request.set_model_name("identity");
  request.add_raw_input_contents("abcd");
  request.add_raw_input_contents("efgh");
  PreparedRequest prepared;
  prepared.payload = "abcdefgh";
  prepared.bytes = Buffer(request.SerializeAsString());
  return {prepared, prepared};
}

bool Right(AnswerCheck* check, uint32_t request, const std::vector<std::string>& raw) {
  grpc::ByteBuffer answer = Answer(raw);
  return check->Right(request, &answer);
}

TEST(AnswerCheck, TakesAnIdentityOnlyWithTheSameBytes) {
  const auto requests = Requests();
  AnswerCheck check(Expectation::kIdentity, false, &requests);
  EXPECT_TRUE(Right(&check, 0, {"abcd", "efgh"}));
  EXPECT_FALSE(Right(&check, 0, {"abcd", "efgx"}));
  EXPECT_FALSE(Right(&check, 0, {"abcd"}));
  EXPECT_FALSE(Right(&check, 0, {"abcd", "efgh", "i"}));
  EXPECT_FALSE(Right(&check, 0, {}));
}

TEST(AnswerCheck, HoldsAnswersToTheSizeOfTheFirst) {
  const auto requests = Requests();
  AnswerCheck check(Expectation::kSameSize, false, &requests);
  EXPECT_FALSE(Right(&check, 0, {}));
  EXPECT_TRUE(Right(&check, 0, {"xy"}));
  EXPECT_TRUE(Right(&check, 0, {"zz"}));
  EXPECT_FALSE(Right(&check, 0, {"xyz"}));
  EXPECT_TRUE(Right(&check, 1, {"xyz"}));
}

std::string Floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

TEST(AnswerCheck, HoldsNumbersToThoseOfTheFirst) {
  const auto requests = Requests();
  AnswerCheck check(Expectation::kNearFirst, false, &requests);
  EXPECT_FALSE(Right(&check, 0, {}));
  EXPECT_TRUE(Right(&check, 0, {Floats({1, 2}), Floats({-300})}));
  EXPECT_TRUE(Right(&check, 0, {Floats({1.00001F, 2}), Floats({-300.001F})}));
  EXPECT_FALSE(Right(&check, 0, {Floats({1.0001F, 2}), Floats({-300})}));
  EXPECT_FALSE(Right(&check, 0, {Floats({1, 2}), Floats({-300.1F})}));
  EXPECT_FALSE(Right(&check, 0, {Floats({1, 2})}));
  EXPECT_FALSE(Right(&check, 0, {Floats({1, 2, std::numeric_limits<float>::quiet_NaN()})}));
  EXPECT_TRUE(Right(&check, 1, {Floats({7})}));
  EXPECT_FALSE(Right(&check, 1, {Floats({1, 2, -300})})) << "another request's";
}

TEST(AnswerCheck, FloatsHaveFourBytes) {
  const auto requests = Requests();
  AnswerCheck check(Expectation::kNearFirst, false, &requests);
  EXPECT_FALSE(Right(&check, 0, {std::string(4098, 0)}));
}

TEST(AnswerCheck, KnowsAnEcho) {
  auto requests = Requests();
  AnswerCheck check(Expectation::kEcho, false, &requests);
  EXPECT_TRUE(check.Right(0, &requests[1].bytes));
  EXPECT_FALSE(Right(&check, 0, {"abcd", "efgh"}));
}

TEST(AnswerCheck, LooksIntoTheMessagesOfAStream) {
  const auto requests = Requests();
  AnswerCheck check(Expectation::kIdentity, true, &requests);
  inference::ModelStreamInferResponse response;
  response.mutable_infer_response()->add_raw_output_contents("abcdefgh");
  grpc::ByteBuffer right = Buffer(response.SerializeAsString());
  EXPECT_TRUE(check.Right(0, &right));
  response.mutable_infer_response()->set_raw_output_contents(0, "abcdefgx");
  grpc::ByteBuffer wrong = Buffer(response.SerializeAsString());
  EXPECT_FALSE(check.Right(0, &wrong));
  response.Clear();
  response.set_error_message("no such model");
  grpc::ByteBuffer error = Buffer(response.SerializeAsString());
  EXPECT_FALSE(check.Right(0, &error));
  EXPECT_FALSE(Right(&check, 0, {"abcd", "efgh"})) << "an answer that is no stream's";
}

TEST(AnswerCheck, RefusesWhatIsNoMessage) {
  const auto requests = Requests();
  AnswerCheck check(Expectation::kSameSize, false, &requests);
  grpc::ByteBuffer cut = Buffer(
      "\x32\x7f"
      "short");
  EXPECT_FALSE(check.Right(0, &cut));
  grpc::ByteBuffer none;
  EXPECT_FALSE(check.Right(0, &none));
}

}  // namespace
}  // namespace mpsd::traffic
