#include "client/traffic/pump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

// This header alone shows a call's headers. Newer gRPCs do not install it.
#if __has_include(<grpcpp/test/client_context_test_peer.h>)
#include <grpcpp/test/client_context_test_peer.h>

namespace mpsd::traffic {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::multimap<std::string, std::string> HeadersWith(const std::string& token) {
  grpc::ClientContext call;
  ShownToken(token).AddTo(&call);
  return grpc::testing::ClientContextTestPeer(&call).GetSendInitialMetadata();
}

TEST(ShownToken, IsShownAsAServerWantsIt) {
  EXPECT_THAT(HeadersWith("secret"), ElementsAre(Pair("authorization", "Bearer secret")));
}

TEST(ShownToken, NoneIsNotShown) { EXPECT_THAT(HeadersWith(""), IsEmpty()); }

}  // namespace
}  // namespace mpsd::traffic
#endif
