#include "server/bodies/text_routes/text_error.h"

#include <gtest/gtest.h>

#include "server/request/too_long.h"

namespace mpsd {
namespace {

TEST(TextError, OpenAisClientsGetAnObject) {
  const TextError error =
      TextErrorOf(absl::InvalidArgumentError("a \"b\""), 400, ErrorForm::kOpenAi);
  EXPECT_EQ(error.code, 400);
  EXPECT_EQ(error.json,
            R"({"error":{"message":"a \"b\"","type":"invalid_request_error","param":null,)"
            R"("code":null},"detail":"a \"b\""})");
  EXPECT_EQ(TextErrorOf(absl::NotFoundError("x"), 404, ErrorForm::kOpenAi).json,
            R"({"error":{"message":"x","type":"invalid_request_error","param":"model",)"
            R"("code":"model_not_found"},"detail":"x"})");
  EXPECT_EQ(TextErrorOf(absl::UnavailableError("x"), 503, ErrorForm::kOpenAi).json,
            R"({"error":{"message":"x","type":"service_unavailable_error","param":null,)"
            R"("code":null},"detail":"x"})");
}

TEST(TextError, TeisClientsGetItsCodes) {
  const auto check = [](int ours, int theirs, const char* type) {
    const TextError error = TextErrorOf(absl::UnknownError("x"), ours, ErrorForm::kTei);
    EXPECT_EQ(error.code, theirs);
    EXPECT_EQ(error.json, std::string(R"({"error":"x","error_type":")") + type + "\"}");
  };
  check(400, 422, "Validation");
  check(404, 404, "Validation");
  check(413, 413, "Validation");
  check(429, 429, "Overloaded");
  check(500, 424, "Backend");
  check(503, 503, "Unhealthy");
  check(504, 504, "Backend");
}

TEST(TextError, APathThatIsNotThereIsNoMissingModel) {
  EXPECT_EQ(NoSuchPathJson(ErrorForm::kOpenAi),
            R"({"error":{"message":"there is no such path","type":"invalid_request_error",)"
            R"("param":null,"code":"unknown_url"},"detail":"there is no such path"})");
  EXPECT_EQ(NoSuchPathJson(ErrorForm::kTei),
            R"({"error":"there is no such path","error_type":"Validation"})");
  EXPECT_EQ(NoSuchPathJson(ErrorForm::kPlain), R"({"error":"there is no such path"})");
}

TEST(TextError, TooLongIsTooLargeEverywhere) {
  for (const ErrorForm form : {ErrorForm::kOpenAi, ErrorForm::kTei, ErrorForm::kPlain}) {
    EXPECT_EQ(TextErrorOf(TooLong("x"), 400, form).code, 413);
  }
  EXPECT_EQ(TextErrorOf(TooLong("x"), 400, ErrorForm::kPlain).json, R"({"error":"x"})");
}

}  // namespace
}  // namespace mpsd
