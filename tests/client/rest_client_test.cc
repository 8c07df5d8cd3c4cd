#include "client/web/rest_client.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/status_json.h"
#include "tests/client/soon.h"
#include "tests/fakes/fake_web_server.h"

namespace mpsd::client {
namespace {

class RestClientTest : public testing::Test {
 protected:
  std::unique_ptr<RestClient> Start() {
    server_.Start();
    auto http = HttpClient::Connect(server_.url(), Soon());
    EXPECT_TRUE(http.ok()) << http.status();
    return std::make_unique<RestClient>(*std::move(http));
  }

  FakeWebServer server_;
};

// The input's bytes come back as the output "y".
FakeWebServer::Reply Echo(const FakeWebServer::Request& request) {
  size_t json_bytes = 0;
  EXPECT_TRUE(absl::SimpleAtoi(request.headers.at("Inference-Header-Content-Length"), &json_bytes));
  const std::string tensor = request.body.substr(json_bytes);
  const std::string json =
      absl::StrCat(R"({"model_version":"1","outputs":[{"name":"y","datatype":"UINT8","shape":[)",
                   tensor.size(), R"(],"parameters":{"binary_data_size":)", tensor.size(), "}}]}");
  return {200, json + tensor, {{"Inference-Header-Content-Length", absl::StrCat(json.size())}}};
}

TEST_F(RestClientTest, PostsAnInferenceAndReadsItsTensors) {
  server_.handler = Echo;
  const auto reply =
      Start()->Infer({"m", "1", "", {{"x", DataType::kUint8, {3}, {"\0\xff{", 3}}}, {}}, Soon());
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->outputs[0].bytes, std::string("\0\xff{", 3));
  const FakeWebServer::Request request = server_.Requests()[0];
  EXPECT_EQ(request.line, "POST /v2/models/m/versions/1/infer");
  EXPECT_EQ(request.headers.at("Content-Type"), "application/octet-stream");
}

TEST_F(RestClientTest, AsksForTheMetadataOfAModel) {
  server_.handler = [](const FakeWebServer::Request&) {
    return FakeWebServer::Reply{200, R"({"name":"m","inputs":[],"outputs":[]})"};
  };
  const auto metadata = Start()->GetModelMetadata("m", "", Soon());
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_EQ(metadata->name, "m");
  EXPECT_EQ(server_.Requests()[0].line, "GET /v2/models/m");
}

TEST_F(RestClientTest, AsksForTheModelsThatAreKnown) {
  server_.handler = [](const FakeWebServer::Request&) {
    return FakeWebServer::Reply{
        200, R"([{"name":"m","version":"1","state":"LOADING","reason":"r"},{"name":"n"}])"};
  };
  const auto models = Start()->ListModels(Soon());
  ASSERT_TRUE(models.ok()) << models.status();
  ASSERT_EQ(models->size(), 2U);
  EXPECT_EQ((*models)[0].state, "LOADING");
  EXPECT_EQ((*models)[0].reason, "r");
  EXPECT_EQ((*models)[1].version, "");
  EXPECT_EQ(server_.Requests()[0].line, "POST /v2/repository/index");
  for (const char* body : {"{}", "[{}]", "[7]", "no"}) {
    EXPECT_TRUE(absl::IsInternal(ReadListedModels(body).status())) << body;
  }
}

TEST_F(RestClientTest, AsksForTheStateOfADaemon) {
  server_.handler = [](const FakeWebServer::Request&) {
    return FakeWebServer::Reply{200, R"({"server_name":"mpsd","ready":true,"of_tomorrow":1,)"
                                     R"("models":[{"name":"m","workers":[{"pid":7}]}]})"};
  };
  const auto status = Start()->GetDaemonStatus(Soon());
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->server_name, "mpsd");
  EXPECT_TRUE(status->ready);
  EXPECT_EQ(status->models.at(0).workers.at(0).pid, 7);
  EXPECT_EQ(server_.Requests()[0].line, "GET /mpsd/status");
  EXPECT_TRUE(absl::IsInternal(ReadDaemonStatus("[]").status()));
}

TEST_F(RestClientTest, HasAModelTakeItsContentsAgain) {
  server_.handler = [](const FakeWebServer::Request&) {
    return FakeWebServer::Reply{200, R"({"contents":3})"};
  };
  const auto client = Start();
  EXPECT_EQ(*client->ForgiveContents("a b", Soon()), 3U);
  EXPECT_EQ(server_.Requests()[0].line, "POST /mpsd/models/a%20b/forgive");
  server_.handler = [](const FakeWebServer::Request&) { return FakeWebServer::Reply{200, "{}"}; };
  EXPECT_TRUE(absl::IsInternal(client->ForgiveContents("m", Soon()).status()));
}

TEST_F(RestClientTest, ARefusalHasTheServersText) {
  server_.handler = [](const FakeWebServer::Request& request) {
    const bool infers = request.line == "POST /v2/models/m/infer";
    return FakeWebServer::Reply{infers ? 429U : 404U, R"({"error":"Exceeds maximum queue size"})"};
  };
  const auto client = Start();
  EXPECT_EQ(client->Infer({"m", "", "", {}, {}}, Soon()).status(),
            absl::ResourceExhaustedError("Exceeds maximum queue size"));
  EXPECT_EQ(client->GetModelMetadata("m", "", Soon()).status(),
            absl::NotFoundError("Exceeds maximum queue size"));
}

TEST_F(RestClientTest, AnAnswerWithoutTheLengthOfItsJsonIsJsonAlone) {
  server_.handler = [](const FakeWebServer::Request& request) {
    FakeWebServer::Reply reply = Echo(request);
    reply.headers.clear();
    return reply;
  };
  EXPECT_EQ(
      Start()->Infer({"m", "", "", {{"x", DataType::kUint8, {1}, {"{", 1}}}, {}}, Soon()).status(),
      absl::InternalError("the server's answer has no list 'outputs'"));
}

}  // namespace
}  // namespace mpsd::client
