#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "tests/server/http/http2_client.h"
#include "tests/server/http/http_server_fixture.h"

namespace mpsd {
namespace {

class Http2Test : public HttpServerTest {
 protected:
  UniqueFd ConnectFd() {
    if (!is_started_) Start();
    UniqueFd fd(socket(AF_INET, SOCK_STREAM, 0));
    const std::string& address = Address();
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    inet_pton(AF_INET, "127.0.0.1", &name.sin_addr);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    return fd;
  }

  std::vector<BodyEnd> Ends() {
    absl::MutexLock lock(&served_.mu);
    return served_.ends;
  }

  // The task that is held goes on.
  void GoOn() {
    absl::MutexLock lock(&served_.mu);
    served_.holding->Resume();
  }

  // A stream for pieces, which has begun.
  int32_t BeginPieces(Http2Client* client, const std::string& body = "") {
    const int32_t stream = client->Begin("POST", "/pieces", body, {}, /*is_whole=*/false);
    served_.held.WaitForNotification();
    return stream;
  }

  // Over() and the bytes of bodies come behind what the client sees.
  void AwaitRest(int over) {
    while (served_.over < over || server_.body_bytes() > 0) std::this_thread::yield();
  }
};

TEST_F(Http2Test, AnswersAndKeepsTheConnection) {
  Http2Client client(ConnectFd());
  for (int i = 0; i < 3; ++i) {
    const Http2Client::Answer& answer = client.Await(client.Begin("POST", "/a?b", "body"));
    EXPECT_EQ(answer.headers.at(":status"), "200");
    EXPECT_EQ(answer.headers.at("content-type"), "text/plain");
    EXPECT_EQ(answer.headers.at("content-length"), "12");
    EXPECT_EQ(answer.body, "POST /a body");
    EXPECT_EQ(answer.code, NGHTTP2_NO_ERROR);
  }
  AwaitRest(3);
  EXPECT_EQ(server_.connection_count(0), 1U);
}

TEST_F(Http2Test, ThePrefaceMayComeByteByByte) {
  Client client = Connect();
  const std::string preface = NGHTTP2_CLIENT_MAGIC;
  for (const char c : preface) client.Send(std::string(1, c));
  client.Send(std::string("\0\0\0\4\0\0\0\0\0", 9));  // SETTINGS
  EXPECT_EQ(client.Read(9).substr(3, 1), std::string(1, NGHTTP2_SETTINGS));
}

TEST_F(Http2Test, StreamsAreServedBesideEachOther) {
  Http2Client client(ConnectFd());
  const int32_t held = client.Begin("GET", "/hold");
  served_.held.WaitForNotification();
  for (int i = 0; i < 100; ++i) {
    const std::string path = absl::StrCat("/", i);
    EXPECT_EQ(client.Await(client.Begin("GET", path)).body, absl::StrCat("GET ", path, " "));
  }
  EXPECT_FALSE(client.answer(held).is_over);
  {
    absl::MutexLock lock(&served_.mu);
    served_.holding->Resume();
  }
  EXPECT_EQ(client.Await(held).body, "GET /hold ");
  AwaitRest(101);
}

TEST_F(Http2Test, HeadHasTheHeadersOfItsGetAndNoBody) {
  Http2Client client(ConnectFd());
  const Http2Client::Answer& answer = client.Await(client.Begin("HEAD", "/a"));
  EXPECT_EQ(answer.headers.at("content-length"), "8");
  EXPECT_EQ(answer.body, "");
}

TEST_F(Http2Test, AnAnswerMayComeInParts) {
  Http2Client client(ConnectFd());
  const Http2Client::Answer& answer = client.Await(client.Begin("POST", "/parts", "x"));
  EXPECT_EQ(answer.body, "abcd");
  EXPECT_EQ(answer.headers.at("x-first"), "yes");
  EXPECT_EQ(answer.headers.count("content-length"), 0U);
  AwaitRest(1);
}

// The window bounds what a client gets that takes nothing; its reset ends the answer.
TEST_F(Http2Test, ASlowClientGetsNoMoreThanItsWindow) {
  Http2Client client(ConnectFd());
  const int32_t stream = client.Begin("GET", "/endless");
  constexpr size_t kWindow = 65535;
  client.AwaitThat([&] { return client.answer(stream).body.size() == kWindow; });
  EXPECT_EQ(client.Await(client.Begin("HEAD", "/a")).headers.at(":status"), "200");
  EXPECT_EQ(client.answer(stream).body.size(), kWindow);
  client.Consume(stream, kWindow);
  client.AwaitThat([&] { return client.answer(stream).body.size() == 2 * kWindow; });
  client.Reset(stream);
  served_.left.WaitForNotification();
  AwaitRest(2);
}

TEST_F(Http2Test, ASplicedReplyIsWhole) {
  Http2Client client(ConnectFd());
  const int32_t stream = client.Begin("GET", "/spliced");
  while (!client.answer(stream).is_over) {
    const size_t had = client.answer(stream).body.size();
    client.AwaitThat(
        [&] { return client.answer(stream).is_over || client.answer(stream).body.size() > had; });
    client.Consume(stream, client.answer(stream).body.size() - had);
  }
  EXPECT_EQ(client.answer(stream).headers.at("content-length"), absl::StrCat(kSplicedBytes + 2));
  EXPECT_EQ(client.answer(stream).body, absl::StrCat("<", std::string(kSplicedBytes, 's'), ">"));
  EXPECT_EQ(client.Await(client.Begin("HEAD", "/spliced")).body, "");
  AwaitRest(2);
  while (served_.freed < 2) std::this_thread::yield();
}

// The socket may still have to take the bytes of a stream that is gone.
TEST_F(Http2Test, ASplicedReplyIsFreedAfterAReset) {
  Http2Client client(ConnectFd());
  const int32_t stream = client.Begin("GET", "/spliced");
  client.AwaitThat([&] { return client.answer(stream).body.size() == 65535; });
  client.Reset(stream);
  AwaitRest(1);
  while (served_.freed < 1) std::this_thread::yield();
  EXPECT_EQ(client.Await(client.Begin("HEAD", "/a")).headers.at(":status"), "200");
}

TEST_F(Http2Test, AResetTellsTheTask) {
  Http2Client client(ConnectFd());
  const int32_t stream = client.Begin("GET", "/hold");
  served_.held.WaitForNotification();
  client.Reset(stream);
  served_.left.WaitForNotification();
  AwaitRest(1);
  EXPECT_EQ(client.Await(client.Begin("GET", "/a")).body, "GET /a ");
}

TEST_F(Http2Test, AClientThatLeavesTellsTheTask) {
  Start();
  {
    Http2Client client(ConnectFd());
    client.Begin("GET", "/hold");
    served_.held.WaitForNotification();
  }
  served_.left.WaitForNotification();
  AwaitRest(1);
  while (server_.connection_count(0) > 0) std::this_thread::yield();
}

TEST_F(Http2Test, ABodyOverTheBoundIsTooLarge) {
  Http2Client client(ConnectFd());
  const int32_t announced =
      client.Begin("POST", "/a", "x", {{"content-length", "4097"}}, /*is_whole=*/false);
  EXPECT_EQ(client.Await(announced).body, "no body");
  EXPECT_EQ(client.Await(announced).code, NGHTTP2_NO_ERROR);
  EXPECT_EQ(client.Await(client.Begin("POST", "/a", std::string(4097, 'x'))).body, "no body");
  EXPECT_EQ(client.Await(client.Begin("POST", "/a", std::string(4096, 'x'))).body.size(), 4104U);
  EXPECT_EQ(Ends(),
            (std::vector<BodyEnd>{BodyEnd::kTooLarge, BodyEnd::kTooLarge, BodyEnd::kWhole}));
  AwaitRest(3);
}

TEST_F(Http2Test, TheBodiesOfOneHostAreBounded) {
  Http2Client client(ConnectFd());
  const int32_t first = client.Begin("POST", "/a", std::string(4000, 'x'), {}, false);
  while (server_.body_bytes() < 4000) std::this_thread::yield();
  EXPECT_EQ(client.Await(client.Begin("POST", "/a", std::string(97, 'x'))).body, "no body");
  client.SendMore(first, std::string(96, 'x'), /*is_last=*/true);
  EXPECT_EQ(client.Await(first).body.size(), 4104U);
  EXPECT_EQ(Ends(), (std::vector<BodyEnd>{BodyEnd::kTooMany, BodyEnd::kWhole}));
  AwaitRest(2);
}

TEST_F(Http2Test, ABodyThatIsTooSlowIsRefused) {
  options_.body_ns = 1;
  Http2Client client(ConnectFd());
  EXPECT_EQ(client.Await(client.Begin("POST", "/a", "x", {}, false)).body, "no body");
  EXPECT_EQ(Ends(), std::vector<BodyEnd>{BodyEnd::kTooSlow});
  AwaitRest(1);
}

TEST_F(Http2Test, AnAnswerThatIsNotTakenEnds) {
  options_.answer_ns = 1;
  Http2Client client(ConnectFd());
  EXPECT_EQ(client.Await(client.Begin("GET", "/endless")).code, NGHTTP2_CANCEL);
  served_.left.WaitForNotification();
  AwaitRest(1);
  EXPECT_GE(metrics_.untaken_answers.load(), 1U);
}

TEST_F(Http2Test, RefusesWhatIsNoRequest) {
  Http2Client client(ConnectFd());
  const Http2Client::Headers get = {{":method", "GET"}, {":path", "/a"}, {":scheme", "http"}};
  EXPECT_EQ(client.Await(client.BeginWith(get, "", true)).code, NGHTTP2_PROTOCOL_ERROR);
  EXPECT_EQ(client.Await(client.Begin("GET", "/a", "", {{"host", "other"}})).body,
            "a request has one Host");
  EXPECT_EQ(client.Await(client.Begin("GET", "/a", "", {{"x", std::string(1024, 'x')}}))
                .headers.at(":status"),
            "431");
  EXPECT_EQ(client.Await(client.BeginWith({{":method", "CONNECT"}, {":authority", "h"}}, "", true))
                .headers.at(":status"),
            "501");
  EXPECT_EQ(client.Await(client.Begin("GET", "/refused")).headers.at(":status"), "403");
  EXPECT_EQ(client.Await(client.Begin("GET", "/a")).body, "GET /a ");
}

TEST_F(Http2Test, AClientThatExpectsItIsToldToContinue) {
  Http2Client client(ConnectFd());
  const int32_t stream = client.Begin("POST", "/a", "", {{"expect", "100-continue"}}, false);
  client.AwaitThat([&] { return !client.answer(stream).informational.empty(); });
  EXPECT_EQ(client.answer(stream).informational, "100");
  client.SendMore(stream, "x", /*is_last=*/true);
  EXPECT_EQ(client.Await(stream).body, "POST /a x");
}

TEST_F(Http2Test, AClientThatFloodsIsCut) {
  Http2Client client(ConnectFd());
  client.Await(client.Begin("GET", "/a"));
  while (metrics_.flooding_connections == 0) client.Ping();
  client.AwaitEnd();
  EXPECT_EQ(metrics_.flooding_connections.load(), 1U);
}

TEST_F(Http2Test, AClientThatResetsWhatItBeginsIsCut) {
  options_.resets = 100;
  Http2Client client(ConnectFd());
  while (metrics_.flooding_connections == 0) client.Reset(client.Begin("GET", "/hold2"));
  client.AwaitEnd();
  while (server_.connection_count(0) > 0) std::this_thread::yield();
}

TEST_F(Http2Test, AConnectionWithoutARequestEnds) {
  group().idle_ns = 1;
  Http2Client client(ConnectFd());
  client.AwaitEnd();
  EXPECT_EQ(client.goaway_code(), NGHTTP2_NO_ERROR);
}

// The client is asked to go first, so that no request of it is lost.
TEST_F(Http2Test, ADrainedConnectionServesWhatHasBegun) {
  Http2Client client(ConnectFd());
  const int32_t held = client.Begin("GET", "/hold");
  served_.held.WaitForNotification();
  server_.StopKeeping();
  client.AwaitThat([&] { return client.goaways() == 2; });
  EXPECT_EQ(client.goaway_code(), NGHTTP2_NO_ERROR);
  {
    absl::MutexLock lock(&served_.mu);
    served_.holding->Resume();
  }
  EXPECT_EQ(client.Await(held).body, "GET /hold ");
  client.AwaitEnd();
  // A new connection has one request more.
  Http2Client late(ConnectFd());
  EXPECT_EQ(late.Await(late.Begin("GET", "/a")).body, "GET /a ");
  late.AwaitEnd();
  EXPECT_GE(late.goaways(), 1);  // nghttp2 reads no second one without a stream
}

TEST_F(Http2Test, AStopAwaitsTheRequest) {
  Http2Client client(ConnectFd());
  const int32_t held = client.Begin("GET", "/hold");
  served_.held.WaitForNotification();
  std::thread stopping([this] { server_.Stop(600 * kNsPerSecond); });
  client.AwaitThat([&] { return client.goaways() > 0; });
  {
    absl::MutexLock lock(&served_.mu);
    served_.holding->Resume();
  }
  EXPECT_EQ(client.Await(held).body, "GET /hold ");
  client.AwaitEnd();
  stopping.join();
}

TEST_F(Http2Test, PiecesAreAnsweredWhileTheBodyComes) {
  options_.body_ns = 1;
  Http2Client client(ConnectFd());
  const int32_t stream = BeginPieces(&client);
  std::string sent;
  for (const char* piece : {"one", "two", "three"}) {
    sent += piece;
    client.SendMore(stream, piece, /*is_last=*/false);
    client.AwaitThat([&] { return client.answer(stream).body == sent; });
  }
  // The time of a body ends another request, and not this one.
  EXPECT_EQ(client.Await(client.Begin("POST", "/a", "x", {}, false)).body, "no body");
  client.SendMore(stream, "end", /*is_last=*/true);
  EXPECT_EQ(client.Await(stream).body, sent + "end");
  EXPECT_EQ(client.answer(stream).headers.at("x-why"), "whole");
  EXPECT_EQ(client.answer(stream).code, NGHTTP2_NO_ERROR);
  AwaitRest(2);
}

TEST_F(Http2Test, ABodyOfPiecesMayBeEmpty) {
  Http2Client client(ConnectFd());
  const Http2Client::Answer& answer = client.Await(client.Begin("POST", "/pieces"));
  EXPECT_EQ(answer.headers.at("x-why"), "whole");
  EXPECT_EQ(answer.body, "");
  AwaitRest(1);
}

// Bytes that the task does not take stay with the client, and other streams go on.
TEST_F(Http2Test, PiecesThatAreNotTakenWaitBehindTheWindow) {
  constexpr size_t kWindow = 1 << 20;
  options_.buffered_bytes = 64 << 20;
  served_.holds_back = true;
  Http2Client client(ConnectFd());
  const std::string sent(8 * kWindow, 'x');
  const int32_t stream = BeginPieces(&client, sent);
  while (server_.body_bytes() < kWindow) client.Await(client.Begin("POST", "/a", "x"));
  EXPECT_EQ(client.Await(client.Begin("POST", "/a", std::string(4096, 'x'))).body.size(), 4104U);
  while (server_.body_bytes() > kWindow) std::this_thread::yield();
  EXPECT_EQ(server_.body_bytes(), kWindow);
  GoOn();
  size_t consumed = 0;
  client.AwaitThat([&] {
    const size_t came = client.answer(stream).body.size();
    client.Consume(stream, came - std::exchange(consumed, came));
    return came == sent.size();
  });
  client.SendMore(stream, "", /*is_last=*/true);
  EXPECT_EQ(client.Await(stream).headers.at("x-why"), "whole");
  AwaitRest(served_.over);
}

TEST_F(Http2Test, APartMayBeLargerThanWhatIsWrittenAtOnce) {
  options_.buffered_bytes = 64 << 20;
  served_.holds_back = true;
  Http2Client client(ConnectFd());
  client.Widen(4 << 20);
  std::string sent;
  // Its last frame is the first one that waits for the next write.
  constexpr size_t kBytes = 61 * 16384;
  while (sent.size() < kBytes) absl::StrAppend(&sent, sent.size(), " ");
  sent.resize(kBytes);
  const int32_t stream = BeginPieces(&client, sent);
  while (server_.body_bytes() < sent.size()) client.Await(client.Begin("GET", "/a"));
  GoOn();
  client.SendMore(stream, "", /*is_last=*/true);
  EXPECT_TRUE(client.Await(stream).body == sent) << client.answer(stream).body.size();
  EXPECT_EQ(client.answer(stream).headers.at("x-why"), "whole");
  AwaitRest(served_.over);
}

TEST_F(Http2Test, PiecesOfOneHostAreBounded) {
  served_.holds_back = true;
  Http2Client client(ConnectFd());
  const int32_t stream = BeginPieces(&client, std::string(4097, 'x'));
  EXPECT_EQ(client.Await(stream).headers.at("x-why"), "too many");
  EXPECT_EQ(client.answer(stream).code, NGHTTP2_NO_ERROR);
  AwaitRest(1);
}

TEST_F(Http2Test, SoIsOneThatHasTheServerResetThem) {
  options_.resets = 100;
  Http2Client client(ConnectFd());
  for (int round = 0; round < 20 && metrics_.flooding_connections == 0; ++round) {
    int32_t last = 0;
    for (int i = 0; i < 100; ++i) {
      last = client.Begin("POST", "/a", "xx", {{"content-length", "1"}});
    }
    client.Await(last);
  }
  EXPECT_EQ(metrics_.flooding_connections, 1U);
}

TEST_F(Http2Test, AClientMayResetMuch) {
  Http2Client client(ConnectFd());
  for (int round = 0; round < 15; ++round) {
    for (int i = 0; i < 100; ++i) client.Reset(client.Begin("GET", "/a"));
    ASSERT_EQ(client.Await(client.Begin("GET", "/a")).body, "GET /a ");
  }
}

TEST_F(Http2Test, AResetEndsPieces) {
  served_.holds_back = true;
  Http2Client client(ConnectFd());
  const int32_t stream = BeginPieces(&client, "x");
  while (server_.body_bytes() == 0) std::this_thread::yield();
  client.Reset(stream);
  served_.left.WaitForNotification();
  AwaitRest(1);
  EXPECT_EQ(Ends(), std::vector<BodyEnd>{});
}

TEST_F(Http2Test, APartThatIsNotTakenInTimeIsCutByTrailers) {
  served_.taken_by_ns = 1;
  options_.buffered_bytes = 64 << 20;
  Http2Client client(ConnectFd());
  const int32_t stream = BeginPieces(&client, std::string(1 << 20, 'x'));
  EXPECT_EQ(client.Await(stream).headers.at("x-why"), "untaken");
  EXPECT_EQ(client.answer(stream).code, NGHTTP2_NO_ERROR);
  EXPECT_LT(client.answer(stream).body.size(), 1U << 20);
  EXPECT_EQ(metrics_.untaken_answers.load(), 1U);
  EXPECT_EQ(client.Await(client.Begin("HEAD", "/a")).headers.at(":status"), "200");
  AwaitRest(2);
}

TEST_F(Http2Test, PiecesEndAtTheirTime) {
  served_.until_ns = 1;
  Http2Client client(ConnectFd());
  const int32_t stream = BeginPieces(&client);
  EXPECT_EQ(client.Await(stream).headers.at("x-why"), "left");
  EXPECT_EQ(client.answer(stream).code, NGHTTP2_NO_ERROR);
  EXPECT_EQ(metrics_.untaken_answers.load(), 0U);
  AwaitRest(1);
}

TEST_F(Http2Test, AStopTellsTasksThatLast) {
  Http2Client client(ConnectFd());
  const int32_t stream = BeginPieces(&client, "x");
  client.AwaitThat([&] { return client.answer(stream).body == "x"; });
  std::thread stopping([this] { server_.Stop(600 * kNsPerSecond); });
  EXPECT_EQ(client.Await(stream).headers.at("x-why"), "stop");
  client.AwaitEnd();
  stopping.join();
  AwaitRest(1);
}

TEST_F(Http2Test, AStopWithoutGraceCutsTheRequest) {
  Http2Client client(ConnectFd());
  client.Begin("GET", "/hold");
  client.Begin("POST", "/a", "x", {}, /*is_whole=*/false);
  served_.held.WaitForNotification();
  while (server_.body_bytes() == 0) std::this_thread::yield();
  server_.Stop(0);
  AwaitRest(2);
}

TEST_F(Http2Test, ATaskMayTakeTheBeginningOfItsBody) {
  options_.message_bytes = 1 << 20;
  Http2Client client(ConnectFd());
  const std::string body = ToldBody(200'000);
  // However it is cut.
  for (const size_t cut : {1, 7, 500, 2000, 100'000, 199'999}) {
    const int32_t stream = client.Begin("POST", "/beginning", body.substr(0, cut), {}, false);
    client.SendMore(stream, body.substr(cut), true);
    EXPECT_EQ(client.Await(stream).headers.at(":status"), "200") << cut;
    EXPECT_EQ(client.answer(stream).body, absl::StrCat(absl::HashOf(body))) << cut;
  }
  AwaitRest(6);
}

TEST_F(Http2Test, TheRestOfABodyHasTheLengthThatItsBeginningTells) {
  options_.message_bytes = 1 << 20;
  Http2Client client(ConnectFd());
  const std::string body = ToldBody(100'000);
  for (const std::string& other : {body + "x", body.substr(0, body.size() - 1)}) {
    const int32_t stream = client.Begin("POST", "/beginning", other);
    EXPECT_EQ(client.Await(stream).headers.at(":status"), "400");
  }
  const int32_t reset = client.Begin("POST", "/beginning", body.substr(0, 50'000), {}, false);
  EXPECT_EQ(client.Await(client.Begin("GET", "/a")).body, "GET /a ");
  client.Reset(reset);
  AwaitRest(4);
  EXPECT_EQ(Ends(), (std::vector<BodyEnd>{BodyEnd::kMalformed, BodyEnd::kMalformed, BodyEnd::kWhole,
                                          BodyEnd::kClientLeft}));
}

}  // namespace
}  // namespace mpsd
