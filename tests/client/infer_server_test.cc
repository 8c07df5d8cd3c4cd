#include "client/cli/infer_server.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/client/soon.h"
#include "tests/fakes/fake_inference_server.h"
#include "tests/fakes/fake_web_server.h"
#include "tests/fakes/work_folder.h"

namespace mpsd::cli {
namespace {

class InferServerTest : public testing::Test {
 protected:
  // The name that the server at the address has for the model "m".
  std::string NameOfModel(const std::string& address) {
    options_.address = address;
    const auto server = ConnectInferServer(options_, Soon(), &code_);
    EXPECT_TRUE(server.ok()) << server.status();
    return server.ok() ? (*server)->GetModelMetadata("m", "", Soon())->name : "";
  }

  ExitCode Refused(const std::string& address) {
    options_.address = address;
    EXPECT_FALSE(ConnectInferServer(options_, Soon(), &code_).ok());
    return code_;
  }

  ServerOptions options_;
  ExitCode code_ = kExitOk;
};

TEST_F(InferServerTest, TheAddressSaysWhatItSpeaks) {
  FakeInferenceServer by_grpc;
  by_grpc.metadata.set_name("m");
  by_grpc.Start();
  EXPECT_EQ(NameOfModel(by_grpc.address()), "m");
  FakeWebServer by_http;
  by_http.handler = [](const FakeWebServer::Request&) {
    return FakeWebServer::Reply{200, R"({"name":"web","inputs":[],"outputs":[]})"};
  };
  by_http.Start();
  EXPECT_EQ(NameOfModel(by_http.url()), "web");
}

TEST_F(InferServerTest, AFailureToConnectHasItsExitCode) {
  EXPECT_EQ(Refused("http://"), kExitUsage);
  EXPECT_EQ(Refused("http://127.0.0.1:1"), kExitNotReachable);
  EXPECT_EQ(Refused("unix:/none/s"), kExitNotReachable);
  options_.tls = true;
  EXPECT_EQ(Refused("http://127.0.0.1:1"), kExitUsage);
  options_.token_file = "/none/token";
  EXPECT_EQ(Refused("https://127.0.0.1:1"), kExitNoInput);
  EXPECT_EQ(Refused("unix:/none/s"), kExitNoInput);
}

TEST_F(InferServerTest, AnAddressOrACertificateThatIsNoneIsNotTried) {
  for (const char* address : {"", "nohost", "ftp://h:1", "h:99999"}) {
    EXPECT_EQ(Refused(address), kExitUsage) << address;
  }
  const WorkFolder folder;
  options_.tls_ca = folder.Write("ca.pem", "{}");
  EXPECT_EQ(Refused("127.0.0.1:1"), kExitNoInput);
  EXPECT_EQ(Refused("https://127.0.0.1:1"), kExitNoInput);
  options_.tls_ca = folder.Write("ca.pem", "-----BEGIN CERTIFICATE-----");
  EXPECT_NE(Refused("127.0.0.1:1"), kExitNoInput);
}

}  // namespace
}  // namespace mpsd::cli
