// A door of HTTP with all that it needs, and requests as a connection brings them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/control.pb.h"
#include "proto/inference.pb.h"
#include "server/bodies/grpc/unread_copies.h"
#include "server/door/http_door.h"
#include "server/door/http_gate.h"
#include "server/http/http_parser.h"
#include "server/request/held_bytes.h"
#include "server/request/retry_info.h"
#include "server/telemetry/http/health_source.h"
#include "server/telemetry/load_sampler.h"
#include "server/telemetry/metrics_page.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_device_copier.h"
#include "tests/fakes/fake_infer_handler.h"

namespace mpsd {

inline constexpr char kBody[] =
    R"({"id":"7","inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[1]}]})";

// A connection's request. Lives on the test's thread.
class FakeHttpCall final : public HttpCall {
 public:
  FakeHttpCall(const std::string& line, const std::string& headers, const std::string& body,
               const std::string& host = "localhost:8000") {
    request_.head = absl::StrCat(line, " HTTP/1.1\r\nHost: ", host, "\r\n", headers, "\r\n");
    HttpFraming framing;
    HttpParser parser;
    EXPECT_EQ(parser.ReadHead(&request_, &framing).status, 0);
    request_.body.Append(body);
  }

  const HttpRequest& request() const override { return request_; }
  const std::string& peer() const override { return told_peer; }
  bool takes_trailers() const override { return speaks_http2; }
  bool by_control_socket() const override { return is_of_control; }
  absl::Span<const std::string> certificate_names() const override { return {}; }
  ConnectionId connection() override { return nullptr; }
  void AddHeaders(absl::string_view lines) override { added.append(lines.data(), lines.size()); }
  void AddTrailers(absl::string_view lines) override {
    added_trailers.append(lines.data(), lines.size());
  }
  void StreamBody(int64_t until_ns) override { streams_until_ns = until_ns; }
  std::string TakeBody() override { return request_.body.Take(); }
  void DropBody() override { dropped = true; }
  void DropBytes(size_t bytes) override { dropped_bytes += bytes; }
  void ReplyPart(HttpReply part) override {
    EXPECT_FALSE(reply.has_value());
    parts.push_back(std::move(part));
  }
  void Reply(HttpReply given) override {
    EXPECT_FALSE(reply.has_value());
    reply = std::move(given);
  }
  void Resume() override {
    ++resumes;
    resumed.release();
  }

  // Bytes of the body that its task has not taken yet.
  void AddPiece(absl::string_view bytes) { request_.body.Append(bytes); }
  size_t untaken_bytes() const { return request_.body.size(); }

  std::string told_peer = "ipv4:127.0.0.1:5";
  std::optional<int64_t> streams_until_ns;
  size_t dropped_bytes = 0;
  bool speaks_http2 = false;
  bool is_of_control = false;
  std::string added;  // headers
  std::string added_trailers;
  std::vector<HttpReply> parts;
  std::optional<HttpReply> reply;
  bool dropped = false;
  int resumes = 0;
  std::counting_semaphore<> resumed{0};

 private:
  HttpRequest request_;
};

// A server that is always ready. Thread-safe.
class NeverAsked final : public HealthSource {
 public:
  bool Live() override { return true; }
  Readiness Ready() override { return {true, "", {}}; }
};

// A door over a handler that answers when the test says so. Lives on the test's thread.
class HttpDoorTest : public testing::Test {
 protected:
  static constexpr uint32_t kOpenCalls = 8;
  static constexpr uint64_t kMessageBytes = 1 << 20;
  static constexpr uint64_t kJsonBytes = 64 << 10;
  static constexpr size_t kTextRows = 300;
  static constexpr uint64_t kTextTokens = 100'000;

  HttpDoorTest() {
    context_.exchange = {&handler_, &metrics_, &clock_, &regions_, &thread_, {}};
    context_.models = &models_;
    context_.methods = &methods_;
    context_.gate = &http_gate_;
    context_.open_infer_calls = &open_infer_calls_;
    context_.open_stream_calls = &open_stream_calls_;
    context_.open_other_calls = &open_other_calls_;
    context_.unread = &unread_;
    context_.inflaters = &inflaters_;
    context_.inflate_bounds = {kMessageBytes, &inflated_};
    context_.page = &page_;
    context_.load = &load_;
    context_.health = &health_;
    context_.message_bytes = kMessageBytes;
    context_.json_bytes = kJsonBytes;
    context_.text_rows = kTextRows;
    context_.text_tokens = kTextTokens;
    door_ = std::make_unique<HttpDoor>(context_, &thread_);
    methods_.AddTyped<inference::ModelReadyRequest, inference::ModelReadyResponse>(
        InferenceMethodName("ModelReady"), MethodTable::Kind::kUnary,
        [](const CallerInfo&, const auto& request, auto* response) {
          response->set_ready(request.name() == "m");
          return absl::OkStatus();
        });
    methods_.AddTyped<control::v1::StatusRequest, control::v1::StatusReply>(
        "/mpsd.control.v1.Control/Status", MethodTable::Kind::kUnary,
        [](const CallerInfo& caller, const auto&, auto* reply) -> absl::Status {
          if (!caller.IsLocal()) return absl::PermissionDeniedError("not from elsewhere");
          reply->add_models()->set_name("<b>");
          return absl::OkStatus();
        });
    methods_.AddTypedDeferred<inference::RepositoryModelLoadRequest>(
        InferenceMethodName("RepositoryModelLoad"),
        [this](const CallerInfo&, const auto&, auto answer) { loads_.push_back(answer); });
  }

  // Brings a request to the door, with its body.
  HttpTask* Bring(const std::string& line, const std::string& headers = "",
                  const std::string& body = "") {
    call_ = std::make_unique<FakeHttpCall>(line, headers, body);
    HttpTask* const task = door_->Arrived(call_.get());
    if (task != nullptr) task->Serve(BodyEnd::kWhole);
    return task;
  }

  // The code of the reply to a request that is answered at once.
  int CodeOf(const std::string& line, const std::string& headers = "",
             const std::string& body = "") {
    if (HttpTask* const task = Bring(line, headers, body); task != nullptr) task->Over();
    return call_->reply.has_value() ? call_->reply->status : 0;
  }

  // The code of the reply to a compressed body, once it was inflated.
  int CodeOfCompressed(const std::string& encoding, const std::string& bytes) {
    HttpTask* const task = Bring("POST /v2/models/m/infer",
                                 absl::StrCat("Content-Encoding: ", encoding, "\r\n"), bytes);
    if (task == nullptr) return call_->reply->status;
    call_->resumed.acquire();
    task->Resumed();
    EXPECT_TRUE(call_->dropped);
    if (!call_->reply.has_value()) Answer({1});
    task->Over();
    EXPECT_EQ(inflated_.taken_bytes(), 0U);
    return call_->reply->status;
  }

  // The model answers the request that came last.
  void Answer(const std::vector<float>& values) { handler_.last()->reply.Send(FakeAnswer(values)); }

  void SetRules() {
    AccessRules rules;
    rules.in_force = true;
    rules.tokens.push_back({"t", *Sha256("secret")});
    AccessRule rule;
    rule.token = "t";
    rule.roles = Role::kInfer;
    rule.models = {"m"};
    rules.rules.push_back(rule);
    gate_.SetRules(rules);
  }

  const std::string& body() const { return call_->reply->body; }

  FakeClock clock_;
  ServerMetrics metrics_;
  AccessMetrics access_metrics_;
  FakeInferHandler handler_;
  FakeDeviceCopier copier_;
  ClientRegions regions_{{}, &copier_, &metrics_};
  ThreadRole thread_;
  ModelDirectory models_;
  MethodTable methods_;
  Gate gate_;
  Logger logger_{*LogFile::Open(""), LogLevel::kError, &clock_, &metrics_};
  RefusalLog refusals_{&access_metrics_, &logger_, &clock_};
  HttpGate http_gate_{&gate_, &refusals_};
  OpenCalls open_infer_calls_{kOpenCalls, &metrics_.refused_calls};
  OpenCalls open_stream_calls_{kOpenCalls, &metrics_.refused_calls};
  OpenCalls open_other_calls_{kOpenCalls, &metrics_.refused_calls};
  UnreadCopies unread_{64 << 10, [](const std::string&) { return false; }};
  HeldBytes inflated_{kMessageBytes, kMessageBytes};
  TaskThreads inflaters_;
  MetricsPage page_{&metrics_, {{"version", "test"}}};
  LoadSampler load_{&page_, &clock_};
  NeverAsked health_;
  DoorContext context_;
  std::vector<std::function<void(const absl::Status&)>>
      loads_;  // that are awaited, the last one last
  std::unique_ptr<HttpDoor> door_;
  std::unique_ptr<FakeHttpCall> call_;
};

}  // namespace mpsd
