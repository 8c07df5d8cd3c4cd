// An HttpServer that echoes requests, and a client's end of its connections.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "proto/base/fd.h"
#include "server/http/http_server.h"
#include "tests/fakes/no_completions.h"

namespace mpsd {

// What the test knows of the requests that the handlers got. Thread-safe.
struct Served {
  absl::Notification left;  // a request's client
  absl::Notification held;  // a request for "/hold" has come
  absl::Mutex mu;
  HttpCall* holding ABSL_GUARDED_BY(mu) = nullptr;
  std::vector<BodyEnd> ends ABSL_GUARDED_BY(mu);
  std::atomic<int> begun{0};  // tasks that took the beginning of their body
  std::atomic<int> over{0};
  std::atomic<int> freed{0};  // memory that replies held
  // For "/pieces".
  std::atomic<bool> holds_back{false};
  int64_t until_ns = INT64_MAX;
  int64_t taken_by_ns = 0;
};

inline constexpr size_t kSplicedBytes = 768 << 10;

// The common part of a test's tasks. Lives on its connection's thread.
class ServedTask : public HttpTask {
 public:
  ServedTask(HttpCall* call, Served* served) : call_(call), served_(served) {}
  virtual ~ServedTask() = default;

  void Resumed() override {}
  void ClientLeft() override { served_->left.Notify(); }
  void Over() override {
    served_->over.fetch_add(1);
    delete this;
  }

 protected:
  void NoteEnd(BodyEnd end) {
    absl::MutexLock lock(&served_->mu);
    served_->ends.push_back(end);
  }

  HttpCall* const call_;
  Served* const served_;
};

// Answers each request with its method, path and body; one for "/hold" when the test says so.
// Lives on its connection's thread.
class EchoTask final : public ServedTask {
 public:
  using ServedTask::ServedTask;

  void Serve(BodyEnd end) override {
    NoteEnd(end);
    if (end != BodyEnd::kWhole) return Reply({400, "text/plain", "no body"});
    if (call_->request().path != "/hold") return Answer();
    absl::MutexLock lock(&served_->mu);
    served_->holding = call_;
    served_->held.Notify();
  }
  void Resumed() override { Answer(); }
  // May come behind the reply: it is on its way until Over().
  void ClientLeft() override {
    if (!served_->left.HasBeenNotified()) served_->left.Notify();
    if (!has_replied_) Reply({499, "text/plain", ""});
  }

 private:
  void Reply(HttpReply reply) {
    has_replied_ = true;
    call_->Reply(std::move(reply));
  }
  void Answer() {
    const HttpRequest& request = call_->request();
    if (request.path == "/spliced") return AnswerSpliced();
    Reply({200, "text/plain",
           absl::StrCat(request.method, " ", request.path, " ", request.body.view())});
  }
  // A large text in brackets. The text lies elsewhere.
  void AnswerSpliced() {
    HttpReply reply(200, "text/plain", "<>");
    std::shared_ptr<std::string> held(new std::string(kSplicedBytes, 's'),
                                      [served = served_](std::string* bytes) {
                                        delete bytes;
                                        served->freed.fetch_add(1);
                                      });
    reply.splices.Add(1, *held);
    reply.held = std::move(held);
    Reply(std::move(reply));
  }

  bool has_replied_ = false;
};

// Answers by the parts "a", "bc" and "", and ends with "d"; ends early where a part is not taken.
// Lives on its connection's thread.
class PartsTask final : public ServedTask {
 public:
  using ServedTask::ServedTask;

  void Serve(BodyEnd end) override {
    PartTaken(true);
    NoteEnd(end);
  }
  void PartTaken(bool taken) override {
    if (!taken || parts_ == kParts.size()) return call_->Reply({200, "text/plain", "d"});
    HttpReply part(200, "text/plain", kParts[parts_++]);
    part.AddHeader("X-First", "yes");
    call_->ReplyPart(std::move(part));
  }

 private:
  const std::vector<std::string> kParts = {"a", "bc", ""};
  size_t parts_ = 0;
};

// A body for "/beginning" that says its length.
inline std::string ToldBody(size_t bytes) {
  std::string body = absl::StrFormat("%08d", bytes);
  while (body.size() < bytes) body.push_back(static_cast<char>('a' + body.size() % 23));
  return body;
}

// Takes the beginning of its body, and answers with the hash of the whole body. Lives on its
// connection's thread.
class BeginningTask final : public ServedTask {
 public:
  using ServedTask::ServedTask;

  // The first bytes tell the length.
  size_t BodyBytes(absl::string_view first) const override {
    size_t bytes = 0;
    return absl::SimpleAtoi(first.substr(0, 8), &bytes) ? bytes : 0;
  }
  absl::Span<char> TakeBeginning(absl::string_view first, size_t bytes) override {
    EXPECT_LT(first.size(), bytes);
    served_->begun.fetch_add(1);
    body_ = std::string(first);
    body_.resize(bytes, '?');
    return absl::MakeSpan(body_).subspan(first.size());
  }
  void Serve(BodyEnd end) override {
    if (body_.empty()) body_ = call_->TakeBody();  // it came whole
    EXPECT_EQ(call_->TakeBody(), "");
    call_->Reply(
        {end == BodyEnd::kWhole ? 200 : 400, "text/plain", absl::StrCat(absl::HashOf(body_))});
    NoteEnd(end);
  }
  void ClientLeft() override {}

 private:
  std::string body_;
};

// Gives large parts until the client has left. Lives on its connection's thread.
class EndlessTask final : public ServedTask {
 public:
  using ServedTask::ServedTask;

  void Serve(BodyEnd) override { PartTaken(true); }
  void PartTaken(bool taken) override {
    if (!taken) return call_->Reply({200, "text/plain", ""});
    call_->ReplyPart({200, "text/plain", std::string(1 << 20, 'x')});
  }
};

// Takes its body in pieces, and answers each take by a part with what it took; while the test holds
// it back, it takes nothing until Resumed(). Ends with trailers that say why. Lives on its
// connection's thread.
class PiecesTask final : public ServedTask {
 public:
  PiecesTask(HttpCall* call, Served* served) : ServedTask(call, served) {
    call->StreamBody(served->until_ns);
    absl::MutexLock lock(&served->mu);
    served->holding = call;
    served->held.Notify();
  }

  void BodyGrew() override { Take(); }
  void Serve(BodyEnd end) override {
    NoteEnd(end);
    End(end == BodyEnd::kWhole ? "whole" : "too many");
  }
  void Resumed() override {
    served_->holds_back = false;
    Take();
  }
  void ClientLeft() override {
    served_->left.Notify();
    End("left");
  }
  void EndSoon() override { End("stop"); }
  void PartTaken(bool taken) override {
    part_out_ = false;
    if (!taken) End("untaken");
    Take();
  }

 private:
  void End(const char* why) {
    if (why_.empty()) why_ = why;
    if (!part_out_) Take();
  }

  void Take() {
    if (part_out_ || has_replied_ || (served_->holds_back && why_.empty())) return;
    HttpReply reply(200, "text/plain", why_ == "untaken" ? "" : call_->TakeBody());
    call_->DropBytes(reply.body.size());
    if (!reply.body.empty()) {
      part_out_ = has_parts_ = true;
      reply.taken_by_ns = served_->taken_by_ns;
      return call_->ReplyPart(std::move(reply));
    }
    if (why_.empty()) return;
    has_replied_ = true;
    (has_parts_ ? reply.trailers : reply.headers) = absl::StrCat("x-why: ", why_, "\r\n");
    call_->Reply(std::move(reply));
  }

  std::string why_;
  bool part_out_ = false;
  bool has_parts_ = false;
  bool has_replied_ = false;
};

// The tasks above, by the path. Lives on the thread of its connections.
class EchoHandler final : public HttpHandler {
 public:
  explicit EchoHandler(Served* served) : served_(served) {}
  HttpTask* Arrived(HttpCall* call) override {
    if (call->request().path == "/refused") {
      call->Reply({403, "text/plain", "refused"});
      return nullptr;
    }
    if (call->request().path == "/control" || call->request().path == "/peer") {
      const bool of_peer = call->request().path == "/peer";
      call->Reply({200, "text/plain",
                   of_peer                     ? call->peer()
                   : call->by_control_socket() ? "yes"
                                               : "no"});
      return nullptr;
    }
    if (call->request().path == "/parts") return new PartsTask(call, served_);
    if (call->request().path == "/endless") return new EndlessTask(call, served_);
    if (call->request().path == "/beginning") return new BeginningTask(call, served_);
    if (call->request().path == "/pieces") return new PiecesTask(call, served_);
    return new EchoTask(call, served_);
  }
  HttpReply Refusal(const HttpCall&, int status, absl::string_view why) override {
    return {status, "text/plain", std::string(why)};
  }

 private:
  Served* const served_;
};

inline UniqueFd ConnectToPath(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM, 0));
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  return fd;
}

// A client's end of a connection. Thread-compatible.
class Client {
 public:
  explicit Client(UniqueFd fd) : fd_(std::move(fd)) {}
  explicit Client(const std::string& address) : Client(UniqueFd(socket(AF_INET, SOCK_STREAM, 0))) {
    Connect(address);
  }

  void Connect(const std::string& address) const {
    const uint16_t port = static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    inet_pton(AF_INET, "127.0.0.1", &name.sin_addr);
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  }

  void Send(const std::string& bytes) const {
    EXPECT_EQ(send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  // All that comes before the server ends the connection.
  std::string ReadAll() {
    while (ReadSome()) {
    }
    return std::exchange(bytes_, "");
  }

  // So many bytes.
  std::string Read(size_t count) {
    while (bytes_.size() < count && ReadSome()) {
    }
    const std::string bytes = bytes_.substr(0, count);
    bytes_.erase(0, count);
    return bytes;
  }

  // One reply, with its head.
  std::string ReadReply() {
    size_t end = 0;
    while ((end = bytes_.find("\r\n\r\n")) == std::string::npos) {
      if (!ReadSome()) return bytes_;
    }
    size_t length = 0;
    const size_t at = bytes_.find("Content-Length: ");
    EXPECT_TRUE(absl::SimpleAtoi(bytes_.substr(at + 16, bytes_.find('\r', at) - at - 16), &length));
    while (bytes_.size() < end + 4 + length && ReadSome()) {
    }
    const std::string reply = bytes_.substr(0, end + 4 + length);
    bytes_.erase(0, reply.size());
    return reply;
  }

  // Whether bytes or the connection's end come within so long.
  bool HearsWithin(int milliseconds) const {
    pollfd waiting{fd_.get(), POLLIN, 0};
    return poll(&waiting, 1, milliseconds) > 0;
  }

  void Close() { fd_.Reset(); }

 private:
  bool ReadSome() {
    char buffer[4096];
    const ssize_t count = recv(fd_.get(), buffer, sizeof(buffer), 0);
    if (count > 0) bytes_.append(buffer, static_cast<size_t>(count));
    return count > 0;
  }

  UniqueFd fd_;
  std::string bytes_;
};

// A server whose times are so long that none passes in a test. Thread-compatible.
class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest()
      : server_([this](const ThreadRole*) { return std::make_unique<EchoHandler>(&served_); },
                &completions_, &metrics_, Clock::Real()) {
    options_.groups.resize(1);
    Add("127.0.0.1:0");
    options_.threads = 2;
    options_.head_bytes = 1024;
    options_.message_bytes = 4096;
    options_.buffered_bytes = 8192;
    options_.handshake_ns = options_.head_ns = options_.body_ns = options_.answer_ns =
        group().idle_ns = 600 * kNsPerSecond;
  }

  HttpGroup& group() { return options_.groups[0]; }
  void Add(const std::string& address) { group().addresses.push_back({address, "listen.http"}); }
  const std::string& Address(size_t index = 0) const { return server_.bound(0)[index]; }

  void Start() {
    is_started_ = true;
    ASSERT_TRUE(server_.Start(options_).ok());
  }
  // The first client starts the server.
  Client Connect() {
    if (!is_started_) Start();
    return Client(Address());
  }

  // What a connection gets for these bytes until the server ends it.
  std::string Ask(const std::string& bytes) {
    Client client = Connect();
    client.Send(bytes);
    return client.ReadAll();
  }

  Served served_;
  NoCompletions completions_;
  ServerMetrics metrics_;
  HttpServerOptions options_;
  HttpServer server_;
  bool is_started_ = false;
};

inline constexpr char kGet[] = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

}  // namespace mpsd
