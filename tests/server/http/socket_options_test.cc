#include "server/http/socket_options.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "proto/base/clock.h"
#include "proto/base/fd.h"

namespace mpsd {
namespace {

int OptionOf(const UniqueFd& fd, int level, int name) {
  int value = -1;
  socklen_t bytes = sizeof(value);
  EXPECT_EQ(getsockopt(fd.get(), level, name, &value, &bytes), 0);
  return value;
}

TEST(SocketOptions, ASilentClientIsAskedWhetherItIsAlive) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM, 0));
  SetSocketOptions(fd.get(), AF_INET, 60 * kNsPerSecond);
  EXPECT_NE(OptionOf(fd, IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_NE(OptionOf(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
  EXPECT_EQ(OptionOf(fd, IPPROTO_TCP, TCP_KEEPINTVL) * OptionOf(fd, IPPROTO_TCP, TCP_KEEPCNT), 20);
#ifdef TCP_USER_TIMEOUT
  EXPECT_EQ(OptionOf(fd, IPPROTO_TCP, TCP_KEEPIDLE), 60);
  EXPECT_EQ(OptionOf(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 80'000);
#endif
}

TEST(SocketOptions, WithoutATimeNobodyIsAsked) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM, 0));
  SetSocketOptions(fd.get(), AF_INET, 0);
  EXPECT_NE(OptionOf(fd, IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_EQ(OptionOf(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
}

}  // namespace
}  // namespace mpsd
