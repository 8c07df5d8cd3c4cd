#include "server/http/connections/address_probe.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/fd.h"

namespace mpsd {
namespace {

// A port of 127.0.0.1 that is listened on while the object lives.
class TakenPort {
 public:
  TakenPort() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof(address);
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), bytes), 0);
    EXPECT_EQ(listen(fd_.get(), 1), 0);
    EXPECT_EQ(getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    port_ = ntohs(address.sin_port);
  }
  std::string On(const std::string& host) const { return absl::StrCat(host, ":", port_); }
  void Free() { fd_.Reset(); }

 private:
  UniqueFd fd_;
  uint16_t port_ = 0;
};

TEST(ProbeAddress, AnAddressThatIsInUseIsSo) {
  TakenPort taken;
  EXPECT_EQ(ProbeAddress(taken.On("127.0.0.1")), absl::UnavailableError("Address already in use"));
  EXPECT_FALSE(ProbeAddress(taken.On("0.0.0.0")).ok());
  EXPECT_FALSE(ProbeAddress(taken.On("localhost")).ok()) << "clients might reach the other process";
  taken.Free();
  EXPECT_TRUE(ProbeAddress(taken.On("127.0.0.1")).ok());
  EXPECT_TRUE(ProbeAddress(taken.On("127.0.0.1")).ok()) << "the probe leaves it free";
}

TEST(ProbeAddress, AnAddressOfAnotherHostCannotBeListenedOn) {
  EXPECT_EQ(ProbeAddress("192.0.2.1:8001"),
            absl::UnavailableError("Cannot assign requested address"));
}

TEST(ProbeAddress, APortThatTheSystemChoosesIsFree) {
  EXPECT_TRUE(ProbeAddress("127.0.0.1:0").ok());
}

TEST(ProbeAddress, ASocketNeedsAFolderAndTakesTheNameOfNoFile) {
  const std::string path = absl::StrCat(testing::TempDir(), "/mpsd_probe_", getpid());
  EXPECT_TRUE(ProbeAddress("unix:" + path).ok());
  std::ofstream(path).put(' ');
  EXPECT_EQ(ProbeAddress("unix:" + path),
            absl::UnavailableError("there is a file that is no socket"));
  std::remove(path.c_str());
  EXPECT_EQ(ProbeAddress("unix:/none/socket"), absl::UnavailableError("No such file or directory"));
}

TEST(ProbeAddress, ASocketThatAProcessListensOnIsInUse) {
  const std::string path = absl::StrCat(testing::TempDir(), "/mpsd_served_", getpid());
  UniqueFd listener(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  EXPECT_EQ(ProbeAddress("unix:" + path), absl::UnavailableError("Address already in use"));
  listener.Reset();
  EXPECT_TRUE(ProbeAddress("unix:" + path).ok()) << "a killed process leaves its socket";
  std::remove(path.c_str());
}

}  // namespace
}  // namespace mpsd
