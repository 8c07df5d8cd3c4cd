#include "client/connect_fault.h"

#include <gtest/gtest.h>

namespace mpsd::client {
namespace {

// The texts are gRPC's own, of 1.51.
constexpr char kHead[] = "failed to connect to all addresses; last error: ";

std::string Text(bool tls, const std::string& fault) {
  return ConnectFaultText("h:1", tls, kHead + fault);
}

TEST(ConnectFault, NobodyListens) {
  EXPECT_EQ(Text(false,
                 "UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to remote host: Connection refused"),
            "no server is reachable at h:1: Connection refused");
  EXPECT_EQ(ConnectFaultText("h:1", true, "DNS resolution failed for h:1: C-ares status …"),
            "no server is reachable at h:1: its name cannot be resolved");
}

TEST(ConnectFault, ACertificateIsNotTrusted) {
  EXPECT_EQ(Text(true,
                 "UNKNOWN: ipv4:127.0.0.1:1: Ssl handshake failed: SSL_ERROR_SSL: "
                 "error:0A000086:SSL routines::certificate verify failed"),
            "the certificate of the server at h:1 is not trusted: another authority has signed it, "
            "or it has expired");
}

TEST(ConnectFault, ACertificateIsForAnotherName) {
  EXPECT_EQ(Text(true, "UNKNOWN: ipv4:127.0.0.1:1: Hostname Verification Check failed."),
            "the certificate of the server at h:1 is for another name");
}

TEST(ConnectFault, OneSideAloneSpeaksTls) {
  EXPECT_EQ(Text(true,
                 "UNKNOWN: ipv4:127.0.0.1:1: Ssl handshake failed: SSL_ERROR_SSL: "
                 "error:0A00010B:SSL routines::wrong version number"),
            "the server at h:1 speaks no TLS");
  EXPECT_EQ(Text(false, "UNAVAILABLE: ipv4:127.0.0.1:1: Socket closed"),
            "the server at h:1 hangs up; it may want TLS");
}

TEST(ConnectFault, TheServerSpeaksHttp) {
  EXPECT_EQ(Text(false, "UNAVAILABLE: ipv4:127.0.0.1:1: Failed parsing HTTP/2"),
            "the server at h:1 speaks no gRPC; if it speaks HTTP, say http://h:1");
}

TEST(ConnectFault, AnAddressHasAHostAndAPort) {
  for (const char* address : {"h:1", "127.0.0.1:65535", "[::1]:8001", "unix:/s", "dns:///h:1"}) {
    EXPECT_EQ(AddressFault(address), "") << address;
  }
  for (const char* address :
       {"", "h", ":1", "h:", "h:0", "h:99999", "h:x", "ftp://h", "ftp://h:1"}) {
    EXPECT_EQ(AddressFault(address),
              "'" + std::string(address) +
                  "' is no address of a server; it is HOST:PORT, unix:PATH or http(s)://HOST:PORT");
  }
}

TEST(ConnectFault, AnotherTextIsPassedOn) {
  EXPECT_EQ(ConnectFaultText("h:1", false, "the moon is full"),
            "no server is reachable at h:1: the moon is full");
  EXPECT_EQ(ConnectFaultText("h:1", false, ""), "no server is reachable at h:1");
}

}  // namespace
}  // namespace mpsd::client
