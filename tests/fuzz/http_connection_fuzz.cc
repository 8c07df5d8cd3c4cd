// A connection of the HTTP server whose client sends anything, in pieces of any size: requests of
// HTTP/1.1 and 2, of gRPC and gRPC-Web, valid frames and broken ones. The daemon's own door serves
// them. Once the client is gone, nothing may be left of what the client began.
#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/fd.h"
#include "proto/inference.pb.h"
#include "server/door/grpc_form.h"
#include "server/http/http2_connection.h"
#include "server/http/http_connection.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/server/bodies/inflate/compressed.h"
#include "tests/server/door/door_fixture.h"

namespace mpsd {
namespace {

constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t kMaxSteps = 300;
constexpr size_t kPlentyBytes = 64 << 10;  // more than a connection takes at once
constexpr uint8_t kDataFrame = 0, kHeadersFrame = 1, kEndStream = 1, kEndHeaders = 4;

// A request of a client: a path, its method and its type, with one more header.
struct Ask {
  const char* method;
  const char* path;
  const char* type;
  const char* name = "te";
  const char* value = "trailers";
};

constexpr std::array<Ask, 22> kAsks = {{
    {"POST", "/inference.GRPCInferenceService/ModelInfer", "application/grpc"},
    {"POST", "/inference.GRPCInferenceService/ModelInfer", "application/grpc", "grpc-encoding",
     "gzip"},
    {"POST", "/inference.GRPCInferenceService/ModelInfer", "application/grpc", "grpc-timeout",
     "5m"},
    {"POST", "/inference.GRPCInferenceService/ModelInfer", "application/grpc-web+proto"},
    {"POST", "/inference.GRPCInferenceService/ModelInfer", "application/grpc-web-text"},
    {"POST", "/inference.GRPCInferenceService/ModelStreamInfer", "application/grpc"},
    {"POST", "/inference.GRPCInferenceService/ModelStreamInfer", "application/grpc",
     "grpc-encoding", "deflate"},
    {"POST", "/inference.GRPCInferenceService/ModelReady", "application/grpc"},
    {"POST", "/inference.GRPCInferenceService/ModelReady", "application/grpc", "grpc-encoding",
     "gzip"},
    {"POST", "/inference.GRPCInferenceService/ModelReady", "application/grpc-web-text"},
    {"POST", "/inference.GRPCInferenceService/RepositoryModelLoad", "application/grpc"},
    {"POST", "/grpc.health.v1.Health/Watch", "application/grpc"},
    {"POST", "/grpc.health.v1.Health/Watch", "application/grpc-web"},
    {"POST", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "application/grpc"},
    {"POST", "/v2/models/m/infer", "application/json"},
    {"POST", "/v2/models/m/infer", "application/json", "content-encoding", "gzip"},
    {"POST", "/v2/models/many/generate_stream", "application/json"},
    {"POST", "/v2/repository/models/m/load", "application/json", "expect", "100-continue"},
    {"GET", "/metrics", ""},
    {"OPTIONS", "/v2", "", "origin", "https://elsewhere.example"},
    {"POST", "/inference.GRPCInferenceService/ModelStreamInfer", "application/grpc-web"},
    {"POST", "/inference.GRPCInferenceService/ModelStreamInfer", "application/grpc-web-text"},
}};

// A header, neither indexed nor compressed.
std::string Literal(absl::string_view name, absl::string_view value) {
  return absl::StrCat(absl::string_view("\0", 1), std::string(1, static_cast<char>(name.size())),
                      name, std::string(1, static_cast<char>(value.size())), value);
}

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, absl::string_view payload) {
  std::string head;
  for (const int shift : {16, 8, 0}) head.push_back(static_cast<char>(payload.size() >> shift));
  head.push_back(static_cast<char>(type));
  head.push_back(static_cast<char>(flags));
  for (const int shift : {24, 16, 8, 0}) head.push_back(static_cast<char>(stream >> shift));
  return absl::StrCat(head, payload);
}

std::string HeadOfHttp2(const Ask& ask) {
  return absl::StrCat(Literal(":method", ask.method), Literal(":scheme", "http"),
                      Literal(":path", ask.path), Literal(":authority", "localhost"),
                      Literal("content-type", ask.type), Literal(ask.name, ask.value));
}

std::string RequestOfHttp1(const Ask& ask, const std::string& body, bool is_chunked) {
  std::string head = absl::StrCat(ask.method, " ", ask.path, " HTTP/1.1\r\nhost: localhost\r\n");
  absl::StrAppend(&head, "content-type: ", ask.type, "\r\n", ask.name, ": ", ask.value, "\r\n");
  if (!is_chunked) return absl::StrCat(head, "content-length: ", body.size(), "\r\n\r\n", body);
  return absl::StrCat(head, "transfer-encoding: chunked\r\n\r\n", absl::Hex(body.size()), "\r\n",
                      body, "\r\n0\r\n\r\n");
}

std::string MessageOf(uint8_t choice) {
  inference::ModelInferRequest request;  // a method's message names it in this field too
  request.set_model_name((choice & 1) != 0 ? "many" : "m");
  return request.SerializeAsString();
}

// A body that goes with some of the requests.
std::string BodyOf(FuzzInput* input) {
  const uint8_t choice = input->Take<uint8_t>();
  const std::string message = MessageOf(choice);
  const auto framed = [](char flag, const std::string& bytes) {
    return GrpcPrefix(flag, bytes.size()) + bytes;
  };
  switch ((choice >> 1) % 8) {
    case 0:
      return framed(0, message);
    case 1:
      return framed(1, Compressed(message, CompressedForm::kGzip));
    case 2:
      return absl::Base64Escape(framed(0, message));
    case 3:
      return framed(static_cast<char>(choice >> 4), input->TakeText(choice));
    case 4:
      return (choice & 1) != 0 ? kBody : R"({"x":[1]})";
    case 5:
      return framed(1, Compressed(std::string(size_t{choice} << 6, 'x'), CompressedForm::kDeflate));
    case 6:
      return std::string(size_t{choice} << 6, '{');
    default:
      return input->TakeText(choice);
  }
}

// Admits requests and answers them when told to. "many" gives several answers to a request. Lives
// on the scene's thread.
class OpenRequests final : public InferHandler, public RowQueue {
 public:
  OpenRequests() {
    for (const char* const name : {"m", "many"}) {
      ServedModel& model = *models_.emplace_back(std::make_shared<ServedModel>());
      model.name = name;
      model.loaded = true;
      TensorSpec input;
      input.name = "x";
      input.datatype = DataType::kFp32;
      input.dims = {-1};
      model.spec.inputs = {input};
    }
    models_.back()->spec.decoupled = true;
  }

  const std::vector<std::shared_ptr<ServedModel>>& models() const { return models_; }
  void set_answers_at_once(bool at_once) { answers_at_once_ = at_once; }

  Handled Handle(const InferMessage& message, Request* request) override {
    request->model = models_[message.model == "many" ? 1 : 0];
    request->metrics = &request->model->metrics;
    request->queue = this;
    if (request->model->spec.decoupled && !message.takes_many) {
      request->reply.Fail(absl::UnimplementedError("the model has several answers"));
      return Handled::kCopied;
    }
    request->state = RequestState::kQueued;
    open_.insert(request);
    if (answers_at_once_) Answer(request);
    return Handled::kCopied;
  }
  void EncodeTexts(const InferMessage&, Request*, TextWaiter*) override { MPSD_CHECK(false); }

  void AnswerAll() {
    ForEachQueued([this](Request* request) { Answer(request); });
  }
  void AnswerInPart() {
    ForEachQueued([](Request* request) {
      if (!request->model->spec.decoupled) return;
      request->state = RequestState::kAnswering;
      request->reply.SendPart(FakeAnswer({1}));
    });
  }

  // RowQueue.
  absl::Status Reserve(Request*, RowTargets*) override { return absl::AbortedError("closed"); }
  void Commit(Request*) override {}
  void Close() override {}
  void Continue(Request* request) override {
    request->state = RequestState::kQueued;
    if (request->cancelled) Cancel(request);
  }
  void Cancel(Request* request) override {
    if (!open_.contains(request)) return;
    request->cancelled = true;
    if (request->state == RequestState::kAnswering) return;
    open_.erase(request);
    request->reply.Fail(absl::CancelledError("cancelled"));
  }

 private:
  void Answer(Request* request) {
    open_.erase(request);
    request->reply.Send(FakeAnswer({1}));
  }

  // One request's answer may end others.
  template <typename Function>
  void ForEachQueued(Function function) {
    const std::vector<Request*> requests(open_.begin(), open_.end());
    for (Request* const request : requests) {
      if (open_.contains(request) && request->state == RequestState::kQueued) function(request);
    }
  }

  std::vector<std::shared_ptr<ServedModel>> models_;
  absl::flat_hash_set<Request*> open_;
  bool answers_at_once_ = false;
};

// The door, a connection, and its client. Lives on one thread, beside one that inflates.
class Scene final : public HttpDoorTest {
 public:
  explicit Scene(FuzzInput* input) : input_(input) {
    thread_.Bind();
    inflaters_.Start("inflate", 1);
    for (const std::shared_ptr<ServedModel>& model : requests_.models()) models_.Publish(model);
    AddLastingMethods();
    context_.exchange.handler = &requests_;
    door_ = std::make_unique<HttpDoor>(context_, &thread_);
    SetOptions();
    std::array<int, 2> ends{};
    MPSD_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) ==
               0);
    client_ = UniqueFd(ends[0]);
    ConnectionClient client;
    client.stream = std::make_unique<HttpStream>(
        HttpSocket(io_, boost::asio::generic::stream_protocol(AF_UNIX, 0), ends[1]), nullptr);
    client.peer = "ipv4:127.0.0.1:5";
    client.use = shares_.Enter({0, 1, clock_.NowNs()}, {1, 1, &metrics_, nullptr});
    client.group = &options_.groups[0];
    Keep(std::make_shared<HttpConnection>(&connection_context_, std::move(client)));
  }

  ~Scene() override {
    client_.Reset();
    while (!connections_.empty()) {
      AnswerAll();
      // Another thread may be inflating.
      if (io_.poll() == 0) io_.run_one_for(std::chrono::seconds(10));
      io_.restart();
      Pass(kNsPerSecond * 600);
    }
    MPSD_CHECK(shares_.count() == 0 && bodies_.taken_bytes() == 0);
    MPSD_CHECK(inflated_.taken_bytes() == 0 && metrics_.open_calls == 0);
    MPSD_CHECK(open_infer_calls_.count() == 0 && open_other_calls_.count() == 0);
    MPSD_CHECK(open_stream_calls_.count() == 0);
    door_.reset();
    thread_.Unbind();
  }

  void TestBody() override {}

  void Play() {
    if ((input_->Take<uint8_t>() & 1) != 0) Send(absl::StrCat(kPreface, Frame(4, 0, 0, "")));
    for (size_t step = 0; step < kMaxSteps && !input_->empty(); ++step) Step();
  }

 private:
  // One that is watched, and a conversation.
  void AddLastingMethods() {
    const auto answer = [this](const CallerInfo&, absl::string_view request,
                               std::string* response) {
      *response = absl::StrCat(request, state_);
      return absl::OkStatus();
    };
    methods_.AddWatched(
        "/grpc.health.v1.Health/Watch", [this] { return state_; }, answer);
    methods_.Add("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                 MethodTable::Kind::kConversation, answer);
  }

  void SetOptions() {
    options_.groups.emplace_back();
    options_.groups[0].idle_ns = kNsPerSecond;
    options_.groups[0].connection_requests = 20;
    options_.streams = 8;
    options_.resets = 50;
    options_.head_bytes = 1024;
    options_.message_bytes = 4096;
    options_.handshake_ns = options_.head_ns = options_.body_ns = options_.answer_ns = kNsPerSecond;
    connection_context_ = {&options_,
                           &io_,
                           &thread_,
                           door_.get(),
                           &bodies_,
                           &metrics_,
                           &clock_,
                           &read_buffer_,
                           &replies_,
                           &unflushed_,
                           [this](Connection* over) { Drop(over); },
                           [this](Connection* over, std::shared_ptr<Connection> next) {
                             Drop(over);
                             Keep(std::move(next));
                           }};
  }

  void Keep(std::shared_ptr<Connection> connection) {
    Connection* const pointer = connection.get();
    connections_.emplace(pointer, std::move(connection));
    pointer->Start();
  }
  void Drop(Connection* connection) { MPSD_CHECK(connections_.erase(connection) == 1); }

  void Step() {
    const uint8_t step = input_->Take<uint8_t>();
    switch (step % 16) {
      case 0:
        return Send(input_->TakeText(input_->Take<uint16_t>()));
      case 1:
        return SendFrame();
      case 2:
      case 3:
      case 4:
        return SendHead();
      case 5:
      case 6:
      case 7:
        return SendData();
      case 8: {
        const Ask& ask = kAsks[input_->Take<uint8_t>() % kAsks.size()];
        return Send(RequestOfHttp1(ask, BodyOf(input_), (step & 16) != 0));
      }
      case 9:
        return Receive();
      case 10:
        return Pass(int64_t{input_->Take<uint8_t>()} * 50 * kNsPerMs);
      case 11:
        return requests_.set_answers_at_once((step & 16) != 0);
      case 12:
        return AnswerAll();
      case 13:
        requests_.AnswerInPart();
        return Run();
      case 14:
        shutdown(client_.get(), (step & 16) != 0 ? SHUT_WR : SHUT_RD);
        return Run();
      default:
        return End(step >> 4);
    }
  }

  // A frame with a fitting length, of any kind and with any payload.
  void SendFrame() {
    const uint8_t type = input_->Take<uint8_t>() % 12;
    const uint8_t flags = input_->Take<uint8_t>();
    const uint32_t stream = input_->Take<uint8_t>();
    Send(Frame(type, flags, stream, input_->TakeText(input_->Take<uint8_t>())));
  }

  void SendHead() {
    const uint8_t choice = input_->Take<uint8_t>();
    const uint32_t stream = input_->Take<uint8_t>();
    const uint8_t flags = kEndHeaders | ((choice & 0x80) != 0 ? kEndStream : 0);
    Send(Frame(kHeadersFrame, flags, stream, HeadOfHttp2(kAsks[(choice & 0x7f) % kAsks.size()])));
  }

  // A piece of a body, or all of it.
  void SendData() {
    const uint8_t flags = input_->Take<uint8_t>();
    const uint32_t stream = input_->Take<uint8_t>();
    const std::string body = BodyOf(input_);
    const size_t cut = (flags & 2) != 0 ? input_->Take<uint8_t>() % (body.size() + 1) : body.size();
    Send(Frame(kDataFrame, flags & kEndStream, stream, absl::string_view(body).substr(0, cut)));
  }

  // Sends the bytes in pieces, as far as the server takes them.
  void Send(absl::string_view bytes) {
    const uint8_t piece = input_->Take<uint8_t>();
    while (!bytes.empty()) {
      const size_t most = piece == 0 ? bytes.size() : piece;
      const ssize_t sent =
          send(client_.get(), bytes.data(), std::min(most, bytes.size()), MSG_NOSIGNAL);
      Run();
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  void Receive() {
    std::array<char, kPlentyBytes> buffer;
    while (recv(client_.get(), buffer.data(), buffer.size(), 0) > 0) Run();
  }

  // As an HttpThread does it, until nothing is left to do.
  void Run() {
    for (size_t done = 1; done > 0;) {
      done = io_.poll();
      io_.restart();
      done += door_->RoundIsOver() + replies_.Take();
      for (const auto& connection : std::exchange(unflushed_, {})) {
        connection->FlushNow();
        ++done;
      }
    }
  }

  void Pass(int64_t time_ns) {
    clock_.Advance(time_ns);
    ++state_;
    const auto connections = connections_;
    for (const auto& [pointer, connection] : connections) {
      if (connection->IsLate(clock_.NowNs())) connection->TimeIsUp();
    }
    door_->Look();
    Run();
  }

  void AnswerAll() {
    requests_.AnswerAll();
    for (const auto& answer : std::exchange(loads_, {})) answer(absl::UnavailableError("not now"));
    Run();
  }

  void End(uint8_t how) {
    const auto connections = connections_;
    for (const auto& [pointer, connection] : connections) {
      if (how % 4 == 0) connection->EndWithReply();
      if (how % 4 == 1) connection->EndSoon();
      if (how % 4 == 2) connection->Cut();
    }
    Run();
  }

  FuzzInput* const input_;
  OpenRequests requests_;
  uint64_t state_ = 0;  // the watched method's
  HttpServerOptions options_;
  boost::asio::io_context io_{1};
  HeldBytes bodies_{8192, 4096};
  ConnectionShares shares_;
  std::string read_buffer_ = std::string(1 << 16, '\0');
  ReplyQueue replies_{&io_};
  std::vector<std::shared_ptr<Http2Connection>> unflushed_;
  ConnectionContext connection_context_;
  absl::flat_hash_map<Connection*, std::shared_ptr<Connection>> connections_;
  UniqueFd client_;
};

}  // namespace
}  // namespace mpsd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  mpsd::FuzzInput input(data, bytes);
  mpsd::Scene scene(&input);
  scene.Play();
  return 0;
}
