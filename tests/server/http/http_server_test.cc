#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "tests/server/http/http_server_fixture.h"

namespace mpsd {
namespace {

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
  Client client = Connect();
  for (int i = 0; i < 3; ++i) {
    client.Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody");
    const std::string reply = client.ReadReply();
    EXPECT_TRUE(absl::StartsWith(reply, "HTTP/1.1 200 OK\r\n")) << reply;
    EXPECT_TRUE(absl::EndsWith(reply, "\r\n\r\nPOST /a body")) << reply;
  }
}

TEST_F(HttpServerTest, AThreadStartsWithItsFirstConnection) {
  options_.threads = 4;
  Client first = Connect();
  Client second = Connect();
  for (Client* const client : {&first, &second}) {
    client->Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(absl::StartsWith(client->ReadReply(), "HTTP/1.1 200 OK\r\n"));
  }
  server_.Stop(0);
  EXPECT_EQ(completions_.left, 2);
}

TEST_F(HttpServerTest, AnotherServerTakesItsSocketsOver) {
  Client before = Connect();
  before.Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  before.ReadReply();
  const std::string address = Address();
  auto inherited = std::make_shared<InheritedSockets>();
  ASSERT_EQ(server_.listeners().size(), 1U);
  for (const HttpServer::Listener& listener : server_.listeners()) {
    ListeningSocket socket{UniqueFd(dup(listener.socket->fd.get())), listener.socket->family,
                           listener.socket->address};
    inherited->Add(listener.asked, std::move(socket));
  }
  absl::StatusOr<std::vector<ListeningSocket>> unwanted = OpenListeningSockets("127.0.0.1:0");
  const std::string of_unwanted = unwanted->front().address;
  inherited->Add("127.0.0.1:1", std::move(unwanted->front()));
  HttpServer successor(
      [this](const ThreadRole*) { return std::make_unique<EchoHandler>(&served_); }, &completions_,
      &metrics_, Clock::Real());
  options_.inherited = inherited;
  ASSERT_TRUE(successor.Start(options_).ok());
  EXPECT_EQ(successor.bound(0)[0], address);
  EXPECT_TRUE(OpenListeningSockets(of_unwanted).ok()) << "nobody listens there any more";
  server_.StopAccepting();
  server_.StopKeeping();
  // The first server may still accept some.
  for (uint32_t of_successor = 0; of_successor == 0;) {
    Client after(address);
    after.Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(after.Read(8), "HTTP/1.1");
    of_successor = successor.connection_count(0);
  }
  before.Send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(absl::StrContains(before.ReadAll(), "Connection: close"));
}

TEST(InheritedSocketsTest, EachOfTwoAddressesWithPortZeroGetsItsOwn) {
  InheritedSockets inherited;
  for (const char* const bound : {"h:1", "h:1", "h:2"}) {
    inherited.Add("h:0", {UniqueFd(dup(STDIN_FILENO)), AF_INET, bound});
  }
  EXPECT_EQ(inherited.Take("h:0").size(), 2U);
  const std::vector<ListeningSocket> second = inherited.Take("h:0");
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].address, "h:2");
}

TEST_F(HttpServerTest, ASplicedReplyIsWhole) {
  Client client = Connect();
  for (int i = 1; i <= 2; ++i) {
    client.Send("GET /spliced HTTP/1.1\r\nHost: h\r\n\r\n");
    const std::string reply = client.ReadReply();
    EXPECT_TRUE(
        absl::EndsWith(reply, absl::StrCat("\r\n\r\n<", std::string(kSplicedBytes, 's'), ">")));
    while (served_.freed < i) std::this_thread::yield();
  }
  client.Send("HEAD /spliced HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(absl::StrContains(client.ReadAll(),
                                absl::StrCat("Content-Length: ", kSplicedBytes + 2, "\r\n")));
}

TEST_F(HttpServerTest, EachReplyCountsOnceByItsCode) {
  const auto count = [this](int code) {
    for (size_t i = 0; i < HttpReplies::kCodes.size(); ++i) {
      if (HttpReplies::kCodes[i] == code) return metrics_.http_replies.Count(i);
    }
    return uint64_t{0};
  };
  Start();
  Ask("GET /parts HTTP/1.0\r\n\r\n");
  Ask(std::string(kGet) + "garbage\r\n\r\n");
  Ask("POST /refused HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(count(200), 2U);
  EXPECT_EQ(count(400), 1U);
  EXPECT_EQ(count(403), 1U);
}

TEST(HttpReplies, EachCodeHasWordsOfItsOwn) {
  std::set<std::string> words;
  for (const int code : HttpReplies::kCodes) words.emplace(ReasonOf(code));
  EXPECT_EQ(words.size(), HttpReplies::kCodes.size());
}

TEST_F(HttpServerTest, AnswersAPipelineInItsOrder) {
  Client client = Connect();
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&requests, "GET /", i, " HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  client.Send(requests);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(absl::EndsWith(client.ReadReply(), absl::StrCat("GET /", i, " ")));
  }
}

TEST_F(HttpServerTest, HeadHasTheHeadersOfItsGetAndNoBody) {
  Start();
  const std::string reply = Ask("HEAD /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(absl::StrContains(reply, "Content-Length: 8\r\n")) << reply;
  EXPECT_TRUE(absl::EndsWith(reply, "\r\n\r\n")) << reply;
}

TEST_F(HttpServerTest, Http10EndsWithItsReply) {
  Start();
  const std::string reply = Ask("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(absl::StrContains(reply, "Connection: close\r\n")) << reply;
  EXPECT_TRUE(absl::EndsWith(reply, "GET /a "));
}

TEST_F(HttpServerTest, ReadsChunkedBodies) {
  Client client = Connect();
  client.Send("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
  client.Send("3\r\ncde\r\n0\r\n\r\n");
  EXPECT_TRUE(absl::EndsWith(client.ReadReply(), "POST /a abcde"));
  client.Send(kGet);
  EXPECT_TRUE(absl::EndsWith(client.ReadReply(), "GET /a "));
}

TEST_F(HttpServerTest, ABodyOverTheBoundIsTooLarge) {
  Start();
  Ask("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4097\r\n\r\n");
  Ask("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1001\r\n");
  absl::MutexLock lock(&served_.mu);
  EXPECT_EQ(served_.ends, std::vector<BodyEnd>(2, BodyEnd::kTooLarge));
}

constexpr char kPostOf4096[] = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4096\r\n\r\n";

// All clients of Unix sockets are one host, and those of 127.0.0.1 another one.
TEST_F(HttpServerTest, OneHostLeavesRoomForBodiesOfOthers) {
  const std::string path = absl::StrCat(testing::TempDir(), "/http_server_test_hosts.sock");
  Add("unix:" + path);
  Client first = Connect();
  first.Send(kPostOf4096 + std::string(4000, 'x'));
  while (server_.body_bytes() < 4000) std::this_thread::yield();
  EXPECT_TRUE(absl::StartsWith(Ask(kPostOf4096 + std::string(4000, 'x')), "HTTP/1.1 400"));
  Client other(ConnectToPath(path));
  other.Send(kPostOf4096 + std::string(4096, 'x'));
  EXPECT_TRUE(absl::StartsWith(other.ReadReply(), "HTTP/1.1 200"));
  first.Send(std::string(96, 'x'));
  EXPECT_TRUE(absl::StartsWith(first.ReadReply(), "HTTP/1.1 200"));
  while (server_.body_bytes() > 0) std::this_thread::yield();  // given back behind Over()
  absl::MutexLock lock(&served_.mu);
  EXPECT_EQ(served_.ends[0], BodyEnd::kTooMany);
}

TEST_F(HttpServerTest, TheBodiesOfAllTogetherAreBounded) {
  const std::string path = absl::StrCat(testing::TempDir(), "/http_server_test_all.sock");
  Add("unix:" + path);
  options_.buffered_bytes = 6000;
  Client first = Connect();
  first.Send(kPostOf4096 + std::string(4000, 'x'));
  while (server_.body_bytes() < 4000) std::this_thread::yield();
  Client other(ConnectToPath(path));
  other.Send(kPostOf4096 + std::string(2500, 'x'));
  EXPECT_TRUE(absl::StartsWith(other.ReadAll(), "HTTP/1.1 400"));
  first.Send(std::string(96, 'x'));
  EXPECT_TRUE(absl::StartsWith(first.ReadReply(), "HTTP/1.1 200"));
  while (server_.body_bytes() > 0) std::this_thread::yield();  // given back behind Over()
}

// A request whose body is still to come.
void BeginPost(Client* client) {
  client->Send("POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  const std::string wanted = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(client->Read(wanted.size()), wanted);
}

TEST_F(HttpServerTest, AConnectionBeyondTheBoundIsClosed) {
  group().connections = 1;
  Client first = Connect();
  BeginPost(&first);
  EXPECT_EQ(Connect().ReadAll(), "");
  EXPECT_EQ(metrics_.refused_connections, 1U);
  first.Send("ab");
  EXPECT_TRUE(absl::StartsWith(first.ReadReply(), "HTTP/1.1 200"));
}

TEST_F(HttpServerTest, AnIdleConnectionMakesRoom) {
  group().connections = 1;
  Client first = Connect();
  first.Send(kGet);
  first.ReadReply();
  // It is idle a moment after its client has the reply. Newcomers stay open: a descriptor that is
  // used again looks like a race to the thread sanitizer.
  std::vector<std::unique_ptr<Client>> newcomers;
  while (metrics_.displaced_connections == 0) {
    newcomers.push_back(std::make_unique<Client>(Address()));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(first.ReadAll(), "");
}

TEST_F(HttpServerTest, ABeginningWithoutARequestMakesRoomFirst) {
  group().connections = 4;
  Client idle = Connect();
  idle.Send(kGet);
  idle.ReadReply();
  Client beginning = Connect();
  beginning.Send("GET /a HT");
  Client third = Connect();
  third.Send(kGet);
  EXPECT_TRUE(absl::EndsWith(third.ReadReply(), "GET /a "));
  EXPECT_EQ(beginning.ReadAll(), "");
  idle.Send(kGet);
  EXPECT_TRUE(absl::EndsWith(idle.ReadReply(), "GET /a "));
}

TEST_F(HttpServerTest, AFullAddressLeavesRoomAtAnother) {
  Add("127.0.0.1:0");
  group().connections = 16;
  Start();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<Client>(Address()));
    BeginPost(clients.back().get());
  }
  EXPECT_EQ(Connect().ReadAll(), "");
  Client probe(Address(1));
  probe.Send(kGet);
  EXPECT_TRUE(absl::EndsWith(probe.ReadReply(), "GET /a "));
  clients.pop_back();
  while (server_.connection_count(0) > 8) std::this_thread::yield();
  Client late = Connect();
  late.Send(kGet);
  EXPECT_TRUE(absl::EndsWith(late.ReadReply(), "GET /a "));
}

TEST_F(HttpServerTest, ABusyThreadKeepsNobodyWaitingAtAnAddressWithItsOwn) {
  Add("127.0.0.1:0");
  group().addresses.back().has_own_thread = true;
  Client busy = Connect();
  busy.Send(kGet);
  busy.ReadReply();
  absl::MutexLock lock(&served_.mu);  // which a task takes
  busy.Send(kGet);
  Client probe(Address(1));
  probe.Send("GET /refused HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(probe.HearsWithin(30'000));
  EXPECT_TRUE(absl::EndsWith(probe.ReadReply(), "refused"));
}

TEST_F(HttpServerTest, HeadersOverTheBoundAreRefused) {
  Start();
  EXPECT_TRUE(
      absl::StartsWith(Ask("GET / HTTP/1.1\r\nX: " + std::string(1100, 'x')), "HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, HeadersOfJustTheBoundAreServed) {
  Start();
  const auto head = [](size_t bytes) {
    std::string text = "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX: ";
    text.append(bytes - text.size() - 4, 'x');
    return text + "\r\n\r\n";
  };
  EXPECT_TRUE(absl::StartsWith(Ask(head(options_.head_bytes)), "HTTP/1.1 200 "));
  EXPECT_TRUE(absl::StartsWith(Ask(head(options_.head_bytes + 1)), "HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, WhatIsNoRequestEndsTheConnection) {
  Start();
  const std::string replies = Ask(std::string(kGet) + "garbage\r\n\r\n" + kGet);
  EXPECT_TRUE(absl::StrContains(replies, "GET /a HTTP/1.1 400 ")) << replies;
  EXPECT_TRUE(absl::EndsWith(replies, "is not HTTP/1.1")) << replies;
}

TEST_F(HttpServerTest, ContinueIsSaidBeforeTheBody) {
  Client client = Connect();
  client.Send("POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  const std::string wanted = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(client.Read(wanted.size()), wanted);
  client.Send("ab");
  EXPECT_TRUE(absl::EndsWith(client.ReadReply(), "POST /a ab"));
}

// A Unix socket of which nobody reads. Made before the server starts: the thread sanitizer does not
// see that the server opens a descriptor whose number this one has given back.
class UnreadSocket {
 public:
  UnreadSocket() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    writer_ = UniqueFd(ends[0]);
    reader_ = UniqueFd(ends[1]);
  }

  // How many times these bytes go into it.
  int TimesUntilFull(const std::string& bytes) const {
    int times = 0;
    while (send(writer_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) ++times;
    return times;
  }

 private:
  UniqueFd writer_;
  UniqueFd reader_;
};

TEST_F(HttpServerTest, APartBehindAContinueThatNobodyReadsIsGivenBack) {
  const std::string path = absl::StrCat(testing::TempDir(), "/http_server_test_full.sock");
  Add("unix:" + path);
  const UnreadSocket full;
  Client reader = Connect();
  reader.Send(kGet);
  const int replies = full.TimesUntilFull(reader.ReadReply());
  Client client(ConnectToPath(path));
  for (int i = 0; i < replies; ++i) {
    client.Send(kGet);
    while (served_.over < i + 2) std::this_thread::yield();
  }
  client.Send("GET /parts HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n");
  client.Send("Content-Length: 1\r\n\r\n");
  client.Send("x");
  const auto served_count = [this] {
    absl::MutexLock lock(&served_.mu);
    return static_cast<int>(served_.ends.size());
  };
  while (served_count() < replies + 2) std::this_thread::yield();
  client.Close();
  while (served_.over < replies + 2) std::this_thread::yield();
}

TEST_F(HttpServerTest, ABodyThatComesAfterItsTimeIsDropped) {
  options_.body_ns = 1;
  options_.message_bytes = options_.buffered_bytes = 1 << 20;
  Client client = Connect();
  client.Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nx");
  EXPECT_TRUE(absl::StartsWith(client.ReadReply(), "HTTP/1.1 400"));
  client.Send(std::string(100'000, 'x'));
  EXPECT_EQ(client.ReadAll(), "");
}

TEST_F(HttpServerTest, ARefusedRequestsBodyIsNeverRead) {
  Start();
  const std::string reply = Ask(
      "POST /refused HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nGET /a HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(absl::EndsWith(reply, "refused")) << reply;
  EXPECT_TRUE(absl::StrContains(reply, "Connection: close\r\n")) << reply;
}

TEST_F(HttpServerTest, AnotherThreadMayReply) {
  Client client = Connect();
  client.Send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
  served_.held.WaitForNotification();
  {
    absl::MutexLock lock(&served_.mu);
    served_.holding->Reply({200, "text/plain", "late"});
  }
  EXPECT_TRUE(absl::EndsWith(client.ReadReply(), "\r\n\r\nlate"));
}

TEST_F(HttpServerTest, ATaskIsResumedOnItsThread) {
  Client client = Connect();
  client.Send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
  served_.held.WaitForNotification();
  {
    absl::MutexLock lock(&served_.mu);
    served_.holding->Resume();
  }
  EXPECT_TRUE(absl::EndsWith(client.ReadReply(), "GET /hold "));
}

TEST_F(HttpServerTest, AReplyMayComeInParts) {
  Client client = Connect();
  const std::string wanted =
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\nX-First: "
      "yes\r\n"
      "\r\n1\r\na\r\n2\r\nbc\r\n1\r\nd\r\n0\r\n\r\n";
  for (int i = 0; i < 2; ++i) {
    client.Send("GET /parts HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(client.Read(wanted.size()), wanted);
  }
  client.Send(kGet);
  EXPECT_TRUE(absl::EndsWith(client.ReadReply(), "GET /a "));
}

TEST_F(HttpServerTest, TheEndOfTheConnectionEndsThePartsOfHttp10) {
  EXPECT_EQ(Ask("GET /parts HTTP/1.0\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-First: yes\r\nConnection: close\r\n"
            "\r\nabcd");
}

TEST_F(HttpServerTest, PartsEndWhenTheClientLeaves) {
  Start();
  {
    Client client = Connect();
    client.Send("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n");
    client.Read(4 << 20);
  }
  served_.left.WaitForNotification();
  while (served_.over == 0) std::this_thread::yield();
}

TEST_F(HttpServerTest, AClientThatTakesNoPartIsCut) {
  options_.answer_ns = 1;
  Client client = Connect();
  client.Send("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n");
  served_.left.WaitForNotification();
  while (served_.over == 0) std::this_thread::yield();
  EXPECT_EQ(metrics_.untaken_answers, 1U);
}

TEST_F(HttpServerTest, ATaskLearnsThatItsClientHasLeft) {
  Start();
  {
    Client client = Connect();
    client.Send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
    served_.held.WaitForNotification();
  }
  served_.left.WaitForNotification();
  while (served_.over == 0) std::this_thread::yield();
}

// The server reads no more of this client, so that only its write finds the client's end.
TEST_F(HttpServerTest, AReplyMayComeForAClientThatIsGone) {
  Start();
  {
    Client client = Connect();
    client.Send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n" + std::string(64 << 10, 'x'));
    served_.held.WaitForNotification();
  }
  absl::MutexLock lock(&served_.mu);
  served_.holding->Reply({200, "text/plain", std::string(32 << 20, 'x')});
  while (served_.over == 0) std::this_thread::yield();
}

TEST_F(HttpServerTest, BytesThatBeginNoRequestAreRefusedAtOnce) {
  options_.head_ns = INT64_MAX;
  Start();
  const std::string hello_of_tls("\x16\x03\x01\x02\x00\x01", 6);
  EXPECT_TRUE(absl::StrContains(Ask(hello_of_tls), "the request is not HTTP/1.1"));
}

std::string PostOfBeginning(size_t bytes) {
  return absl::StrCat("POST /beginning HTTP/1.1\r\nHost: h\r\nContent-Length: ", bytes, "\r\n\r\n");
}

TEST_F(HttpServerTest, ATaskMayTakeTheBeginningOfItsBody) {
  options_.message_bytes = options_.buffered_bytes = 1 << 20;
  Client client = Connect();
  const std::string body = ToldBody(200'000);
  // However it is cut.
  for (const size_t cut : {0, 1, 7, 500, 2000, 100'000, 199'999}) {
    client.Send(PostOfBeginning(body.size()) + body.substr(0, cut));
    client.Send(body.substr(cut));
    const std::string reply = client.ReadReply();
    EXPECT_TRUE(absl::EndsWith(reply, absl::StrCat("\r\n\r\n", absl::HashOf(body)))) << cut;
  }
  while (served_.over < 7 || server_.body_bytes() > 0) std::this_thread::yield();
}

TEST_F(HttpServerTest, AClientMayLeaveBehindTheBeginning) {
  options_.message_bytes = options_.buffered_bytes = 1 << 20;
  Client client = Connect();
  client.Send(PostOfBeginning(200'000) + ToldBody(200'000).substr(0, 100'000));
  while (served_.begun == 0) std::this_thread::yield();
  client.Close();
  while (served_.over == 0) std::this_thread::yield();
  absl::MutexLock lock(&served_.mu);
  EXPECT_EQ(served_.ends, std::vector<BodyEnd>{BodyEnd::kClientLeft});
}

TEST_F(HttpServerTest, TheRestOfABodyHasItsTime) {
  options_.message_bytes = options_.buffered_bytes = 1 << 20;
  options_.body_ns = 1;
  Client client = Connect();
  client.Send(PostOfBeginning(200'000) + ToldBody(200'000).substr(0, 100'000));
  EXPECT_TRUE(absl::StartsWith(client.ReadAll(), "HTTP/1.1 400 "));
  EXPECT_EQ(served_.begun, 1);
}

TEST_F(HttpServerTest, ATrickledHeadIsGivenUp) {
  options_.head_ns = 1;
  Start();
  EXPECT_TRUE(absl::StartsWith(Ask("GET / HT"), "HTTP/1.1 408 "));
}

TEST_F(HttpServerTest, SlowClientsKeepNoOtherWaiting) {
  Start();
  std::vector<Client> slow;
  for (int i = 0; i < 20; ++i) slow.push_back(Connect());
  for (Client& client : slow) client.Send("GET /livez HT");
  Client probe = Connect();
  probe.Send(kGet);
  EXPECT_TRUE(absl::StartsWith(probe.ReadReply(), "HTTP/1.1 200 "));
  for (Client& client : slow) {
    client.Send("TP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(absl::StartsWith(client.ReadReply(), "HTTP/1.1 200 ")) << "its time was not over";
  }
}

TEST_F(HttpServerTest, ATrickledBodyIsGivenUp) {
  options_.body_ns = 1;
  Start();
  Ask("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nx");
  Ask("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n");
  absl::MutexLock lock(&served_.mu);
  EXPECT_EQ(served_.ends, std::vector<BodyEnd>(2, BodyEnd::kTooSlow));
}

TEST_F(HttpServerTest, EmptyLinesBeginNoRequest) {
  options_.head_ns = group().idle_ns = 1;
  EXPECT_EQ(Ask("\r\n"), "");
}

TEST_F(HttpServerTest, AnIdleConnectionEnds) {
  group().idle_ns = 1;
  Start();
  EXPECT_EQ(Connect().ReadAll(), "");
}

TEST_F(HttpServerTest, AConnectionEndsWithTheReplyToItsLastRequest) {
  group().connection_requests = 2;
  Client client = Connect();
  client.Send(kGet);
  EXPECT_FALSE(absl::StrContains(client.ReadReply(), "Connection: close"));
  client.Send(std::string(kGet) + kGet);
  const std::string rest = client.ReadAll();
  EXPECT_TRUE(absl::StrContains(rest, "Connection: close\r\n")) << rest;
  EXPECT_EQ(served_.over, 2) << "the third request is not served";
}

TEST_F(HttpServerTest, AnOldConnectionEndsWithItsReply) {
  options_.age_ns = 1;
  Start();
  const std::string reply = Ask(kGet);
  EXPECT_TRUE(absl::StrContains(reply, "Connection: close\r\n")) << reply;
}

TEST_F(HttpServerTest, EachReplyIsTheLastOnceNothingIsKept) {
  Client kept = Connect();
  kept.Send(kGet);
  kept.ReadReply();
  server_.StopKeeping();
  // What was posted before the connection is taken is done before its request is.
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(absl::StrContains(Ask(kGet), "Connection: close\r\n"));
  }
  kept.Send(kGet);
  EXPECT_TRUE(absl::StrContains(kept.ReadAll(), "Connection: close\r\n"));
}

TEST_F(HttpServerTest, AClientThatWasToldToStayMaySendItsNextRequest) {
  Client client = Connect();
  client.Send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
  served_.held.WaitForNotification();
  {
    absl::MutexLock lock(&served_.mu);
    // More than the sockets hold, so that the reply is being written until the client reads on.
    served_.holding->Reply({200, "text/plain", std::string(32 << 20, 'x')});
  }
  EXPECT_EQ(client.Read(8), "HTTP/1.1");
  server_.StopKeeping();
  EXPECT_FALSE(absl::StrContains(client.ReadReply(), "Connection: close\r\n"));
  client.Send(kGet);
  EXPECT_TRUE(absl::StrContains(client.ReadAll(), "Connection: close\r\n"));
}

TEST_F(HttpServerTest, AStopEndsIdleConnectionsAndAwaitsReplies) {
  Client idle = Connect();
  idle.Send(kGet);
  idle.ReadReply();
  Client client = Connect();
  client.Send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
  served_.held.WaitForNotification();
  std::thread stop([this] { server_.Stop(600 * kNsPerSecond); });
  EXPECT_EQ(idle.ReadAll(), "");
  {
    absl::MutexLock lock(&served_.mu);
    served_.holding->Reply({200, "text/plain", "late"});
  }
  EXPECT_TRUE(absl::EndsWith(client.ReadAll(), "\r\n\r\nlate"));
  stop.join();
}

TEST_F(HttpServerTest, AStopEndsARequestWhoseBodyIsStillComing) {
  Client client = Connect();
  client.Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nx");
  while (server_.body_bytes() == 0) std::this_thread::yield();
  server_.Stop(0);
  EXPECT_EQ(client.ReadAll(), "");
  EXPECT_EQ(served_.over, 1);
  absl::MutexLock lock(&served_.mu);
  EXPECT_EQ(served_.ends, std::vector<BodyEnd>{BodyEnd::kClientLeft});
}

TEST_F(HttpServerTest, BusyPortIsAClearError) {
  Start();
  group().addresses = {{Address(), "listen.http"}};
  HttpServer second([this](const ThreadRole*) { return std::make_unique<EchoHandler>(&served_); },
                    &completions_, &metrics_, Clock::Real());
  EXPECT_EQ(second.Start(options_).message(),
            absl::StrCat("cannot listen on ", Address(), " (listen.http): Address already in use"));
}

TEST_F(HttpServerTest, TheControlSocketIsForItsUserAlone) {
  const std::string path = absl::StrCat(testing::TempDir(), "/http_server_test_control.sock");
  group().addresses = {{"unix:" + path, "listen.control", HttpAddress::Kind::kControl}};
  Start();
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  Client client(ConnectToPath(path));
  client.Send("GET /control HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(absl::EndsWith(client.ReadReply(), "yes"));
}

TEST_F(HttpServerTest, AnotherSocketIsNoControlSocket) {
  Client client = Connect();
  client.Send("GET /control HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(absl::EndsWith(client.ReadReply(), "no"));
}

TEST_F(HttpServerTest, AGroupHasItsOwnConnections) {
  options_.groups.push_back(group());
  group().connections = 1;
  Client first = Connect();
  BeginPost(&first);
  Client other(server_.bound(1)[0]);
  other.Send(kGet);
  EXPECT_TRUE(absl::EndsWith(other.ReadReply(), "GET /a "));
  EXPECT_EQ(server_.connection_count(0), 1U);
  EXPECT_EQ(server_.connection_count(1), 1U);
  EXPECT_EQ(server_.connection_count(2), 0U);
}

TEST_F(HttpServerTest, AReaderIsCutByItsName) {
  Client stays = Connect();
  stays.Send("GET /peer HTTP/1.1\r\nHost: h\r\n\r\n");
  Client reader = Connect();
  reader.Send("GET /peer HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string reply = reader.ReadReply();
  server_.CutReader(reply.substr(reply.find("ipv4:")));
  EXPECT_EQ(reader.ReadAll(), "");
  EXPECT_EQ(metrics_.unread_connections, 1U);
  stays.ReadReply();
  stays.Send(kGet);
  EXPECT_TRUE(absl::EndsWith(stays.ReadReply(), "GET /a "));
}

TEST_F(HttpServerTest, ListensAtAPath) {
  const std::string path = absl::StrCat(testing::TempDir(), "/http_server_test.sock");
  Add("unix:" + path);
  Start();
  EXPECT_EQ(Address(1), "unix:" + path);
  Client client(ConnectToPath(path));
  client.Send(kGet);
  EXPECT_EQ(client.Read(15), "HTTP/1.1 200 OK");
  server_.Stop(0);
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace mpsd
