#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/inference.pb.h"
#include "server/door/grpc_form.h"
#include "tests/fakes/fake_answer_memory.h"
#include "tests/server/bodies/inflate/compressed.h"
#include "tests/server/door/door_fixture.h"

namespace mpsd {
namespace {

constexpr char kOk[] = "grpc-status: 0\r\n";
const std::string kTrailersFrame = std::string("\x80\0\0\0\x10", 5) + kOk;

// Calls of gRPC at a door of HTTP. Lives on the test's thread.
class GrpcDoorTest : public HttpDoorTest {
 protected:
  static std::string Framed(const std::string& message, char flag = 0) {
    std::string body = GrpcReply(absl::StrCat(GrpcBody(), message)).body;
    body[0] = flag;
    return body;
  }

  static std::string InferMessage() {
    inference::ModelInferRequest request;
    request.set_model_name("m");
    request.set_id("7");
    return request.SerializeAsString();
  }

  // Brings a call with its body, and has the model answer. The reply is there afterwards.
  void Ask(const std::string& path, const std::string& headers, const std::string& body,
           const std::string& host = "localhost:8000") {
    AskAs("", path, headers, body, host);
  }
  void AskWeb(const std::string& kind, const std::string& path, const std::string& body,
              const std::string& headers = "", const std::string& host = "localhost:8000") {
    AskAs(kind, path, headers, body, host);
  }

  // The code of gRPC that the reply has.
  std::string Code() const {
    const HttpReply& reply = *call_->reply;
    const std::string& lines = reply.trailers.empty() ? reply.headers : reply.trailers;
    return lines.substr(0, lines.find('\n') + 1);
  }

 private:
  void AskAs(const std::string& kind, const std::string& path, const std::string& headers,
             const std::string& body, const std::string& host) {
    const std::string type = absl::StrCat("content-type: application/grpc", kind, "\r\n");
    call_ = std::make_unique<FakeHttpCall>(absl::StrCat("POST ", path), absl::StrCat(type, headers),
                                           body, host);
    call_->speaks_http2 = kind.empty();
    HttpTask* const task = door_->Arrived(call_.get());
    if (task == nullptr) return;
    task->Serve(BodyEnd::kWhole);
    if (!call_->reply.has_value() && handler_.count() == answered_) {
      call_->resumed.acquire();
      task->Resumed();
      EXPECT_TRUE(call_->dropped);
    }
    if (!call_->reply.has_value()) {
      answered_ = handler_.count();
      Answer({1});
    }
    task->Over();
    EXPECT_EQ(inflated_.taken_bytes(), 0U);
    EXPECT_EQ(open_infer_calls_.count() + open_other_calls_.count(), 0U);
  }

  size_t answered_ = 0;
};

// Answers whose memory a worker owns. Lives on the test's thread.
class LargeAnswerTest : public HttpDoorTest {
 protected:
  LargeAnswerTest() : values_(5000, 1.5F) {
    answer_ = FakeAnswer(values_);
    answer_.memory = &memory_;
  }

  // The request's reply is there, and not written yet.
  HttpTask* Ask(const std::string& line, const std::string& headers, const std::string& body,
                bool is_http2) {
    call_ = std::make_unique<FakeHttpCall>(line, headers, body);
    call_->speaks_http2 = is_http2;
    HttpTask* const task = door_->Arrived(call_.get());
    task->Serve(BodyEnd::kWhole);
    handler_.last()->reply.Send(answer_);
    return task;
  }
  HttpTask* AskByGrpc(const std::string& kind = "") {
    inference::ModelInferRequest request;
    request.set_model_name("m");
    const std::string body = GrpcReply(absl::StrCat(GrpcBody(), request.SerializeAsString())).body;
    return Ask("POST /inference.GRPCInferenceService/ModelInfer",
               absl::StrCat("content-type: application/grpc", kind, "\r\n"), body, kind.empty());
  }

  // The body as the client gets it.
  std::string WholeBody() const {
    const HttpReply& reply = *call_->reply;
    std::string whole;
    reply.splices.ForEach(
        reply.body, 0, reply.body_bytes(),
        [&whole](absl::string_view piece, bool) { whole.append(piece.data(), piece.size()); });
    return whole;
  }

  // The client has taken the reply, or has left.
  void Over(HttpTask* task) {
    task->Over();
    call_->reply.reset();
    EXPECT_EQ(memory_.references, 0);
    EXPECT_TRUE(unread_.Take("ipv4:127.0.0.1:5", 64 << 10, 0).has_value());
  }

  const std::vector<float> values_;
  FakeAnswerMemory memory_;
  mpsd::Answer answer_;
};

TEST_F(LargeAnswerTest, StaysInItsMemoryUntilItIsTaken) {
  HttpTask* const task = AskByGrpc();
  HttpReply& reply = *call_->reply;
  EXPECT_EQ(memory_.references, 1);
  EXPECT_EQ(reply.splices.bytes(), values_.size() * sizeof(float));
  const std::string body = WholeBody();
  EXPECT_EQ(GrpcLength(body), body.size() - kGrpcPrefixBytes);
  inference::ModelInferResponse response;
  ASSERT_TRUE(response.ParseFromString(body.substr(kGrpcPrefixBytes)));
  EXPECT_EQ(response.raw_output_contents(0), answer_.outputs[0].bytes);
  Over(task);
}

TEST_F(LargeAnswerTest, SoDoesABinaryOneOfHttp) {
  const std::string json =
      R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"x","shape":[1],)"
      R"("datatype":"FP32","data":[1]}]})";
  HttpTask* const task = Ask("POST /v2/models/m/infer", "", json, /*is_http2=*/false);
  HttpReply& reply = *call_->reply;
  EXPECT_EQ(memory_.references, 1);
  EXPECT_EQ(reply.splices.bytes(), values_.size() * sizeof(float));
  const size_t json_bytes = reply.body.size();
  EXPECT_EQ(WholeBody().substr(json_bytes), answer_.outputs[0].bytes);
  Over(task);
}

TEST_F(LargeAnswerTest, IsCopiedWhereTooMuchIsUnread) {
  memory_.can_pin = false;
  HttpTask* const task = AskByGrpc();
  EXPECT_EQ(memory_.references, 0);
  EXPECT_TRUE(call_->reply->splices.empty());
  EXPECT_FALSE(unread_.Take("ipv4:127.0.0.1:5", 64 << 10, 0).has_value());
  Over(task);
}

TEST_F(LargeAnswerTest, IsCopiedForTheWeb) {
  HttpTask* const task = AskByGrpc("-web");
  EXPECT_EQ(memory_.references, 0);
  EXPECT_TRUE(call_->reply->splices.empty());
  Over(task);
}

constexpr char kInfer[] = "/inference.GRPCInferenceService/ModelInfer";
constexpr char kReady[] = "/inference.GRPCInferenceService/ModelReady";

TEST_F(GrpcDoorTest, ACallMayNameAnyHost) {
  Ask(kInfer, "", Framed(InferMessage()), "elsewhere.example");
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_EQ(Code(), kOk);
}

TEST_F(GrpcDoorTest, APageOfAnotherSiteMayNotCall) {
  Ask(kInfer, "origin: https://elsewhere.example\r\n", Framed(InferMessage()));
  EXPECT_EQ(call_->reply->status, 403);
}

TEST_F(GrpcDoorTest, TrailersOfTheWebAreInTheBody) {
  Ask(kInfer, "", Framed(InferMessage()));
  const std::string answer = body();
  AskWeb("-web+proto", kInfer, Framed(InferMessage()));
  EXPECT_STREQ(call_->reply->content_type, "application/grpc-web+proto");
  EXPECT_EQ(body(), answer + kTrailersFrame);
  EXPECT_EQ(call_->reply->trailers, "");
  EXPECT_TRUE(call_->reply->tells_length);
}

TEST_F(GrpcDoorTest, TextOfTheWebIsInBase64) {
  Ask(kInfer, "", Framed(InferMessage()));
  const std::string answer = body();
  AskWeb("-web-text", kInfer, absl::Base64Escape(Framed(InferMessage())));
  EXPECT_STREQ(call_->reply->content_type, "application/grpc-web-text+proto");
  EXPECT_EQ(body(), absl::Base64Escape(answer + kTrailersFrame));
}

TEST_F(GrpcDoorTest, SoAreMethodsOfTheWeb) {
  inference::ModelReadyRequest request;
  request.set_name("m");
  const std::string message = Framed(request.SerializeAsString());
  Ask(kReady, "", message);
  const std::string answer = body();
  AskWeb("-web", kReady, message);
  EXPECT_EQ(body(), answer + kTrailersFrame);
  AskWeb("-web-text", kReady, absl::Base64Escape(message));
  EXPECT_EQ(body(), absl::Base64Escape(answer + kTrailersFrame));
}

TEST_F(GrpcDoorTest, AnErrorOfTheWebIsInTheHeaders) {
  for (const char* const path : {kInfer, kReady}) {
    for (const char* const kind : {"-web", "-web-text"}) {
      AskWeb(kind, path, "***");
      EXPECT_EQ(call_->reply->status, 200);
      EXPECT_TRUE(absl::StartsWith(call_->reply->content_type, "application/grpc-web"));
      EXPECT_EQ(body(), "");
      EXPECT_EQ(Code(), "grpc-status: 3\r\n");
    }
  }
  AskWeb("-web", "/a.B/C", "");
  EXPECT_STREQ(call_->reply->content_type, "application/grpc-web+proto");
  EXPECT_EQ(Code(), "grpc-status: 12\r\n");
}

TEST_F(GrpcDoorTest, AMessageOfTheWebMayBeCompressed) {
  inflaters_.Start("inflate", 1);
  const std::string message = Framed(Compressed(InferMessage(), CompressedForm::kGzip), 1);
  AskWeb("-web-text", kInfer, absl::Base64Escape(message), "grpc-encoding: gzip\r\n");
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_EQ(call_->reply->headers, "");
}

TEST_F(GrpcDoorTest, AStreamOfTheWebAnswersEachMessageOfItsBody) {
  const std::string message = Framed(InferMessage());
  for (const bool is_text : {false, true}) {
    const size_t before = handler_.count();
    call_ = std::make_unique<FakeHttpCall>(
        "POST /inference.GRPCInferenceService/ModelStreamInfer",
        absl::StrCat("content-type: application/grpc-web", is_text ? "-text" : "", "\r\n"),
        is_text ? absl::Base64Escape(message + message) : message + message);
    HttpTask* const task = door_->Arrived(call_.get());
    ASSERT_NE(task, nullptr);
    EXPECT_FALSE(call_->streams_until_ns.has_value()) << "a body in pieces needs HTTP/2";
    task->Serve(BodyEnd::kWhole);
    const std::vector<Request*> requests = handler_.requests();
    ASSERT_EQ(requests.size(), before + 2);
    for (size_t i = before; i < requests.size(); ++i) requests[i]->reply.Send(FakeAnswer({1}));
    task->PartTaken(true);
    task->PartTaken(true);
    ASSERT_EQ(call_->parts.size(), 2U);
    EXPECT_EQ(call_->parts[0].body, call_->parts[1].body);
    EXPECT_TRUE(absl::StartsWith(call_->parts[0].content_type, "application/grpc-web"));
    ASSERT_TRUE(call_->reply.has_value());
    EXPECT_EQ(body(), is_text ? absl::Base64Escape(kTrailersFrame) : kTrailersFrame);
    EXPECT_EQ(call_->dropped_bytes, 0U);
    task->Over();
  }
}

TEST_F(GrpcDoorTest, AStreamOfTheWebIsInBase64) {
  AskWeb("-web-text", "/inference.GRPCInferenceService/ModelStreamInfer", "***");
  EXPECT_EQ(Code(), "grpc-status: 3\r\n");
}

TEST_F(GrpcDoorTest, ThePagesOfListedSitesMayCallByTheWeb) {
  const std::string origin = "origin: https://app.example\r\n";
  AskWeb("-web", kInfer, Framed(InferMessage()), origin);
  EXPECT_EQ(call_->reply->status, 403);
  context_.origins = {"https://app.example"};
  door_ = std::make_unique<HttpDoor>(context_, &thread_);
  AskWeb("-web", kInfer, Framed(InferMessage()), origin);
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_TRUE(absl::StrContains(call_->added, " grpc-message, grpc-status, ")) << call_->added;
}

TEST_F(GrpcDoorTest, ACallOfTheWebNamesThisHost) {
  AskWeb("-web", kInfer, Framed(InferMessage()), "", "elsewhere.example");
  EXPECT_EQ(call_->reply->status, 403);
}

TEST_F(GrpcDoorTest, ACompressedMessageIsAnsweredAsThePlainOne) {
  inflaters_.Start("inflate", 1);
  Ask(kInfer, "", Framed(InferMessage()));
  ASSERT_EQ(Code(), kOk);
  const std::string answer = body();
  for (const auto& [name, algorithm] :
       {std::pair("gzip", CompressedForm::kGzip), std::pair("deflate", CompressedForm::kDeflate)}) {
    const std::string header = absl::StrCat("grpc-encoding: ", name, "\r\n");
    Ask(kInfer, header, Framed(Compressed(InferMessage(), algorithm), 1));
    EXPECT_EQ(Code(), kOk);
    EXPECT_EQ(body(), answer);
    Ask(kInfer, header, Framed(InferMessage()));
    EXPECT_EQ(body(), answer) << "a plain message of a call that names an encoding";
  }
}

TEST_F(GrpcDoorTest, SoIsThatOfAMethod) {
  inflaters_.Start("inflate", 1);
  inference::ModelReadyRequest request;
  request.set_name("m");
  Ask(kReady, "", Framed(request.SerializeAsString()));
  ASSERT_EQ(Code(), kOk);
  const std::string answer = body();
  Ask(kReady, "grpc-encoding: gzip\r\n",
      Framed(Compressed(request.SerializeAsString(), CompressedForm::kGzip), 1));
  EXPECT_EQ(Code(), kOk);
  EXPECT_EQ(body(), answer);
  Ask(kReady, "grpc-encoding: gzip\r\n", Framed("", 1));
  EXPECT_EQ(Code(), kOk) << "an empty message";
}

TEST_F(GrpcDoorTest, ABombIsBounded) {
  inflaters_.Start("inflate", 1);
  const std::string bomb = Compressed(std::string(2 * kMessageBytes, 'x'), CompressedForm::kGzip);
  for (const char* const path : {kInfer, kReady}) {
    Ask(path, "grpc-encoding: gzip\r\n", Framed(bomb, 1));
    EXPECT_EQ(Code(), "grpc-status: 8\r\n");
    Ask(path, "grpc-encoding: gzip\r\n", Framed("nonsense", 1));
    EXPECT_EQ(Code(), "grpc-status: 3\r\n");
  }
}

TEST_F(GrpcDoorTest, AnUnknownEncodingIsRefusedBeforeTheBody) {
  for (const char* const path : {kInfer, kReady}) {
    Ask(path, "grpc-encoding: zstd\r\n", Framed("x", 1));
    EXPECT_EQ(Code(), "grpc-status: 12\r\n");
    EXPECT_EQ(call_->added, "grpc-accept-encoding: identity, deflate, gzip\r\n");
  }
}

TEST_F(GrpcDoorTest, ACompressedMessageNeedsAnEncoding) {
  for (const char* const path : {kInfer, kReady}) {
    Ask(path, "", Framed("x", 1));
    EXPECT_EQ(Code(), "grpc-status: 13\r\n");
  }
}

TEST_F(GrpcDoorTest, CompressionNeedsLeave) {
  context_.inflaters = nullptr;
  door_ = std::make_unique<HttpDoor>(context_, &thread_);
  for (const char* const path : {kInfer, kReady}) {
    Ask(path, "grpc-encoding: gzip\r\n", Framed("x", 1));
    EXPECT_EQ(Code(), "grpc-status: 12\r\n");
    EXPECT_EQ(call_->added, "grpc-accept-encoding: identity\r\n");
  }
}

TEST_F(GrpcDoorTest, AClientThatLeftIsNotInflatedFor) {
  std::vector<std::unique_ptr<FakeHttpCall>> calls;
  std::vector<HttpTask*> tasks;
  for (const char* const path : {kInfer, kReady}) {
    calls.push_back(std::make_unique<FakeHttpCall>(
        absl::StrCat("POST ", path), "content-type: application/grpc\r\ngrpc-encoding: gzip\r\n",
        Framed("x", 1)));
    calls.back()->speaks_http2 = true;
    tasks.push_back(door_->Arrived(calls.back().get()));
    tasks.back()->Serve(BodyEnd::kWhole);
    tasks.back()->ClientLeft();
  }
  inflaters_.Start("inflate", 1);
  for (size_t i = 0; i < tasks.size(); ++i) {
    call_ = std::move(calls[i]);
    call_->resumed.acquire();
    tasks[i]->Resumed();
    EXPECT_EQ(Code(), "grpc-status: 1\r\n");
    tasks[i]->Over();
  }
}

}  // namespace
}  // namespace mpsd
