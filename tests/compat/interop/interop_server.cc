// The server of gRPC's interop cases: grpc.testing.TestService behind the HttpServer.
//   interop_server CERTIFICATE KEY
// Prints four addresses, one a line, and serves until its standard input ends:
//   plain, TLS   each call is a TestCall, on the door's codec alone
//   plain, TLS   UnaryCall and FullDuplexCall are calls of the MethodTable, as the daemon has them
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "server/door/door_bounds.h"
#include "server/door/http_door.h"
#include "server/door/http_gate.h"
#include "server/http/http_server.h"
#include "server/request/served_model.h"
#include "test_call.h"
#include "test_service.h"
#include "tests/fakes/no_completions.h"

namespace mpsd {
namespace {

constexpr uint64_t kMessageBytes = 64 << 20;
constexpr uint64_t kBufferedBytes = 256 << 20;
constexpr uint32_t kCalls = 1000;
constexpr int64_t kLongNs = 600 * kNsPerSecond;

const std::map<std::string, TestMethod, std::less<>>& MethodsOfCalls() {
  static const auto* const methods = new std::map<std::string, TestMethod, std::less<>>{
      {"UnaryCall", TestMethod::kUnary},
      {"StreamingInputCall", TestMethod::kInput},
      {"StreamingOutputCall", TestMethod::kOutput},
      {"FullDuplexCall", TestMethod::kFullDuplex},
      {"HalfDuplexCall", TestMethod::kHalfDuplex}};
  return *methods;
}

// The interop cases want these two back.
void EchoMetadata(HttpCall* call) {
  for (const HttpHeader& header : call->request().headers) {
    const std::string line = absl::StrCat(header.name, ": ", header.value, "\r\n");
    if (header.name == "x-grpc-test-echo-initial") call->AddHeaders(line);
    if (header.name == "x-grpc-test-echo-trailing-bin") call->AddTrailers(line);
  }
}

// One for each thread of a server. With `own_calls` each method of the TestService but EmptyCall is
// a TestCall. All else is the door's. Lives on its thread.
class TestHandler final : public HttpHandler {
 public:
  TestHandler(const DoorContext& context, const ThreadRole* thread, TestService* service,
              bool own_calls)
      : own_calls_(own_calls), inflaters_(context.inflaters), door_(context, thread) {
    calls_.service = service;
    calls_.clock = context.exchange.clock;
    calls_.inflaters = context.inflaters;
    calls_.inflate_bounds = context.inflate_bounds;
  }

  HttpTask* Arrived(HttpCall* call) override {
    if (!call->takes_trailers()) return door_.Arrived(call);
    EchoMetadata(call);
    absl::string_view name = call->request().path;
    const bool is_ours = absl::ConsumePrefix(&name, kTestService);
    const auto method = MethodsOfCalls().find(name);
    const bool is_own = own_calls_ && is_ours && method != MethodsOfCalls().end();
    if (!is_own || GrpcKindOf(*call) != GrpcKind::kOwn) return door_.Arrived(call);
    return Begin(call, method->second);
  }
  size_t RoundIsOver() override { return door_.RoundIsOver(); }
  void Look() override {
    door_.Look();
    for (TestCall* const sleeper : std::exchange(calls_.sleeping, {})) sleeper->Proceed();
  }
  HttpReply Refusal(const HttpCall& call, int status, absl::string_view why) override {
    return door_.Refusal(call, status, why);
  }

 private:
  HttpTask* Begin(HttpCall* call, TestMethod method) {
    const absl::StatusOr<BodyCoding> coding = GrpcCoding(call, inflaters_ != nullptr);
    const absl::StatusOr<int64_t> end_ns =
        GrpcEnd(call->request().Header(kGrpcTimeout), calls_.clock->NowNs());
    if (coding.ok() && end_ns.ok()) return new TestCall(&calls_, call, method, *coding, *end_ns);
    call->Reply(GrpcError(coding.ok() ? end_ns.status() : coding.status(), StatusStyle::kOwn));
    return nullptr;
  }

  const bool own_calls_;
  TaskThreads* const inflaters_;
  TestCalls calls_;
  HttpDoor door_;
};

// A server with all that its door needs: no models, and no rules.
class TestServer {
 public:
  explicit TestServer(bool own_calls) : own_calls_(own_calls) {
    service_.AddTo(&methods_, /*calls_too=*/!own_calls);
    bounds_.inflaters.Start("inflate", 1);
  }

  void Start(const char* certificate, const char* key) {
    const auto files = CertificateSource::Open({certificate, key, ""}, &access_metrics_, &logger_);
    MPSD_CHECK(files.ok());
    HttpServerOptions options;
    options.certificates = *files;
    options.groups.resize(1);
    options.groups[0].idle_ns = kLongNs;
    options.groups[0].addresses = {{"127.0.0.1:0", "plain", HttpAddress::Kind::kPlain},
                                   {"127.0.0.1:0", "tls", HttpAddress::Kind::kTls}};
    options.threads = 2;
    options.message_bytes = kMessageBytes;
    options.buffered_bytes = kBufferedBytes;
    options.handshake_ns = options.head_ns = options.body_ns = options.answer_ns = kLongNs;
    MPSD_CHECK(server_.Start(options).ok());
    for (const std::string& address : server_.bound(0)) std::printf("%s\n", address.c_str());
  }

  void Stop() { server_.Stop(0); }

 private:
  std::unique_ptr<HttpHandler> MakeHandler(const ThreadRole* thread) {
    DoorContext context;
    context.exchange.metrics = &metrics_;
    context.exchange.clock = Clock::Real();
    context.models = &models_;
    context.methods = &methods_;
    context.gate = &http_gate_;
    context.open_infer_calls = &bounds_.infer_calls;
    context.open_stream_calls = &bounds_.stream_calls;
    context.open_other_calls = &bounds_.other_calls;
    context.unread = &bounds_.unread;
    context.inflaters = &bounds_.inflaters;
    context.inflate_bounds = bounds_.inflate_bounds;
    context.message_bytes = kMessageBytes;
    return std::make_unique<TestHandler>(context, thread, &service_, own_calls_);
  }

  const bool own_calls_;
  ServerMetrics metrics_;
  AccessMetrics access_metrics_;
  Logger logger_{*LogFile::Open(""), LogLevel::kError, Clock::Real(), &metrics_};
  RefusalLog refusals_{&access_metrics_, &logger_, Clock::Real()};
  Gate gate_;
  HttpGate http_gate_{&gate_, &refusals_};
  ModelDirectory models_;
  MethodTable methods_;
  TestService service_;
  DoorBounds bounds_{{kCalls, kBufferedBytes, kMessageBytes, kBufferedBytes},
                     [](const std::string&) { return false; },
                     &metrics_};
  NoCompletions completions_;
  HttpServer server_{[this](const ThreadRole* thread) { return MakeHandler(thread); },
                     &completions_, &metrics_, Clock::Real()};
};

}  // namespace
}  // namespace mpsd

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: interop_server CERTIFICATE KEY\n");
    return 64;
  }
  mpsd::TestServer own(/*own_calls=*/true);
  mpsd::TestServer door(/*own_calls=*/false);
  own.Start(argv[1], argv[2]);
  door.Start(argv[1], argv[2]);
  std::fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  own.Stop();
  door.Stop();
}
