#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "proto/base/fd.h"
#include "server/listen/accept_guard.h"
#include "server/listen/connection_call.h"
#include "server/listen/connection_table.h"
#include "server/listen/open_sockets.h"
#include "server/listen/socket_names.h"

namespace mpsd {
namespace {

constexpr int64_t kNothing = -1;

// Plays gRPC: a listener and its connections in an epoll that tells of changes only, read with
// recvmsg(). The client's ends are in the same process.
class AcceptGuardTest : public testing::Test {
 protected:
  AcceptGuardTest() {
    EXPECT_TRUE(GuardAccept().ok());
    BoundConnections(&bounds_);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_.get(), 256), 0);
    socklen_t bytes = sizeof(address_);
    EXPECT_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address_), &bytes), 0);
    Watch(listener_);
  }
  ~AcceptGuardTest() override { BoundConnections(nullptr); }

  void Watch(const UniqueFd& fd) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.fd = fd.get();
    EXPECT_EQ(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event), 0);
  }

  // The descriptor that something is new of; kNothing when nothing is.
  int64_t NextNews(int limit_ms = 0) {
    epoll_event event{};
    return epoll_wait(epoll_.get(), &event, 1, limit_ms) == 1 ? event.data.fd : kNothing;
  }

  UniqueFd Connect() {
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address_), sizeof(address_)), 0);
    return fd;
  }

  UniqueFd Accept() {
    return UniqueFd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  }

  // With a place for what the kernel says of the bytes that are left, as gRPC has it.
  static ssize_t Read(const UniqueFd& fd) {
    static std::vector<char> buffer(256 << 10);
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    iovec pieces[2] = {{buffer.data(), 10}, {buffer.data() + 10, buffer.size() - 10}};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = 2;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    return recvmsg(fd.get(), &message, 0);
  }

  static void Send(const UniqueFd& fd, const std::string& bytes) {
    EXPECT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  // A frame of DATA, in all 64 KiB.
  static std::string DataFrame() {
    return std::string("\0\xff\xf7\0\0\0\0\0\1", 9) + std::string((64 << 10) - 9, 'x');
  }

  // The connection's frames are seen from now on.
  static void Begin(const UniqueFd& client, const UniqueFd& connection) {
    Send(client, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    EXPECT_EQ(Read(connection), 24);
  }

  ServerMetrics metrics_;
  Logger logger_{LogFile::Open("/dev/null").value(), LogLevel::kError, Clock::Real(), &metrics_};
  ConnectionBounds bounds_{100, 100, {1000, 1000}, &metrics_, &logger_};
  const UniqueFd epoll_{epoll_create1(EPOLL_CLOEXEC)};
  const UniqueFd listener_{socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  sockaddr_in address_{};
};

TEST_F(AcceptGuardTest, AnEndlessRoundIsEndedAndToldOfAgain) {
  const UniqueFd client = Connect();
  const UniqueFd connection = Accept();
  ASSERT_TRUE(connection.valid());
  Watch(connection);
  Begin(client, connection);
  const std::string piece = DataFrame();
  for (int round = 0; round < 3; ++round) {
    uint64_t bytes = 0;
    // Never without bytes: the client is always one piece ahead.
    Send(client, piece);
    ssize_t got = 0;
    for (Send(client, piece); (got = Read(connection)) > 0; Send(client, piece)) {
      bytes += static_cast<uint64_t>(got);
      ASSERT_LT(bytes, 2 * ReadRound::kBytes) << "the round never ends";
    }
    while (NextNews() == listener_.get()) {
    }
    ASSERT_EQ(errno, EAGAIN);
    EXPECT_EQ(Read(connection), -1) << "the second empty read";
    EXPECT_EQ(NextNews(), connection.get()) << "the bytes that are there are told of again";
    while (Read(connection) > 0) {
    }
    Read(connection);
  }
  EXPECT_EQ(metrics_.read_pauses, 6u);
}

TEST_F(AcceptGuardTest, ManyCallsEndARoundAndThenLittleIsReadAtOnce) {
  const UniqueFd client = Connect();
  const UniqueFd connection = Accept();
  std::string calls = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  for (uint64_t i = 0; i < ReadRound::kCalls; ++i) calls.append("\0\0\1\1\4\0\0\0\1x", 10);
  Send(client, calls);
  EXPECT_EQ(Read(connection), static_cast<ssize_t>(calls.size()));
  const std::string data = std::string("\0\xff\xff\0\0\0\0\0\1", 9) + std::string(65535, 'x');
  Send(client, data);
  EXPECT_EQ(Read(connection), -1);
  EXPECT_EQ(Read(connection), -1);
  EXPECT_EQ(metrics_.read_pauses, 2u);
  EXPECT_EQ(Read(connection), static_cast<ssize_t>(ReadRound::kLittleBytes));
  size_t rest = data.size() - ReadRound::kLittleBytes;
  for (ssize_t got = 0; rest > 0 && (got = Read(connection)) > 0;) rest -= static_cast<size_t>(got);
  EXPECT_EQ(rest, 0u);
}

TEST_F(AcceptGuardTest, ARoundThatTheKernelEndsIsNotPaused) {
  const UniqueFd client = Connect();
  const UniqueFd connection = Accept();
  const int on = 1;
  ASSERT_EQ(setsockopt(connection.get(), IPPROTO_TCP, TCP_INQ, &on, sizeof(on)), 0);
  Begin(client, connection);
  const std::string piece = DataFrame();
  for (uint64_t bytes = 0; bytes < 2 * ReadRound::kBytes; bytes += piece.size()) {
    Send(client, piece);
    for (size_t left = piece.size(); left > 0;) {
      const ssize_t got = Read(connection);
      ASSERT_GT(got, 0);
      left -= static_cast<size_t>(got);
    }
  }
  EXPECT_EQ(metrics_.read_pauses, 0u);
}

TEST_F(AcceptGuardTest, OtherSocketsAreLeftAlone) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const UniqueFd source(ends[0]);
  const UniqueFd target(ends[1]);
  const std::string piece(64 << 10, 'x');
  for (uint64_t bytes = 0; bytes < 2 * ReadRound::kBytes;) {
    Send(source, piece);
    ssize_t got = 0;
    for (size_t left = piece.size(); left > 0; left -= static_cast<size_t>(got)) {
      got = Read(target);
      ASSERT_GT(got, 0);
      bytes += static_cast<uint64_t>(got);
    }
  }
  EXPECT_EQ(metrics_.read_pauses, 0u);
}

TEST_F(AcceptGuardTest, AFloodIsCut) {
  const UniqueFd client = Connect();
  const UniqueFd connection = Accept();
  std::string flood = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  for (uint32_t i = 0; i <= 20 * FrameMeter::kControlFramesPerSecond; ++i) {
    flood.append("\0\0\1\6\0\0\0\0\0x", 10);
  }
  Send(client, flood);
  ssize_t got = 0;
  while ((got = Read(connection)) > 0) {
  }
  EXPECT_EQ(got, -1);
  EXPECT_EQ(errno, ECONNRESET);
  for (int i = 0; i < 10; ++i) Read(connection);
  EXPECT_EQ(metrics_.flooding_connections, 1u) << "what was left in its buffer counts no more";
  char byte = 0;
  EXPECT_LE(recv(client.get(), &byte, 1, 0), 0) << "the client sees the end";
}

TEST_F(AcceptGuardTest, ABurstBeyondTheBoundIsClosedPieceByPiece) {
  bounds_.connections = ConnectionTable::OfProcess().count() + 1;
  std::vector<UniqueFd> clients;
  clients.push_back(Connect());
  const UniqueFd inside = Accept();
  ASSERT_TRUE(inside.valid());
  ConnectionCall call;
  call.Begin(PeerName(inside.get()));
  for (int i = 0; i < 100; ++i) clients.push_back(Connect());
  int calls = 0;
  uint64_t refused = 0;
  while (NextNews() == listener_.get()) {
    EXPECT_FALSE(Accept().valid());
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_LE(metrics_.refused_connections - refused, 16u);
    refused = metrics_.refused_connections;
    ++calls;
  }
  EXPECT_EQ(refused, 100u) << "the listener is told of those that wait still";
  EXPECT_GE(calls, 100 / 16);
}

TEST_F(AcceptGuardTest, WhoLeavesMakesRoom) {
  const uint32_t before = ConnectionTable::OfProcess().count();
  bounds_.connections = before + 1;
  for (int i = 0; i < 20; ++i) {
    const UniqueFd client = Connect();
    EXPECT_TRUE(Accept().valid()) << i;
    EXPECT_EQ(ConnectionTable::OfProcess().count(), before);
  }
  EXPECT_EQ(metrics_.refused_connections, 0u);
}

TEST_F(AcceptGuardTest, AnIdleConnectionMakesRoom) {
  ASSERT_EQ(ConnectionTable::OfProcess().count(), 0u);
  bounds_.connections = bounds_.of_listener = 2;
  const UniqueFd idle_client = Connect();
  UniqueFd idle = Accept();
  const UniqueFd busy_client = Connect();
  const UniqueFd busy = Accept();
  ASSERT_TRUE(busy.valid()) << "the idle one made room: one host gets half";
  char byte = 0;
  EXPECT_EQ(recv(idle_client.get(), &byte, 1, 0), 0) << "the client sees the end";
  idle.Reset();  // as gRPC does then
  ConnectionCall call;
  call.Begin(PeerName(busy.get()));
  const UniqueFd late_client = Connect();
  EXPECT_FALSE(Accept().valid());
  EXPECT_EQ(metrics_.displaced_connections, 1u);
  EXPECT_EQ(metrics_.refused_connections, 1u);
  call.End();
  const UniqueFd last_client = Connect();
  EXPECT_TRUE(Accept().valid());
  EXPECT_EQ(recv(busy_client.get(), &byte, 1, 0), 0);
}

TEST_F(AcceptGuardTest, CancelledCallsOfAConnectionWithoutFramesCutIt) {
  const UniqueFd client = Connect();
  const UniqueFd connection = Accept();
  Send(client, std::string(100, 'x'));
  ASSERT_EQ(Read(connection), 100);
  int cancelled = 0;
  while (metrics_.flooding_connections == 0 && cancelled < 100'000) {
    ConnectionCall call;
    call.Begin(PeerName(connection.get()));
    call.Cancelled(/*has_expired=*/false);
    ++cancelled;
  }
  EXPECT_GE(cancelled, 250) << "a quarter of a second's";
  EXPECT_LT(cancelled, 100'000);
  char byte = 0;
  EXPECT_EQ(recv(client.get(), &byte, 1, 0), 0);
}

TEST_F(AcceptGuardTest, CancelledCallsWhoseFramesAreSeenCountOnce) {
  const UniqueFd client = Connect();
  const UniqueFd connection = Accept();
  Send(client, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  ASSERT_EQ(Read(connection), 24);
  for (int i = 0; i < 100'000; ++i) {
    ConnectionCall call;
    call.Begin(PeerName(connection.get()));
    call.Cancelled(/*has_expired=*/false);
  }
  EXPECT_EQ(metrics_.flooding_connections, 0u);
}

TEST_F(AcceptGuardTest, FindsTheSocketOfAClient) {
  const UniqueFd client = Connect();
  const UniqueFd connection = Accept();
  sockaddr_in own{};
  socklen_t bytes = sizeof(own);
  ASSERT_EQ(getsockname(client.get(), reinterpret_cast<sockaddr*>(&own), &bytes), 0);
  const std::string peer = "ipv4:127.0.0.1:" + std::to_string(ntohs(own.sin_port));
  const std::vector<OpenSocket> sockets = SocketsOf(peer);
  ASSERT_EQ(sockets.size(), 1u);
  EXPECT_EQ(sockets[0].fd, connection.get());
  EXPECT_TRUE(sockets[0].IsOpen());
  const std::string address = "127.0.0.1:" + std::to_string(ntohs(address_.sin_port));
  EXPECT_EQ(ConnectionsOn({address}), std::vector<int>{connection.get()});
  EXPECT_FALSE(CutConnectionOf("unix:"));
  EXPECT_TRUE(CutConnectionOf(peer));
  char byte = 0;
  EXPECT_EQ(recv(client.get(), &byte, 1, 0), 0);
}

}  // namespace
}  // namespace mpsd
