#include "server/http/calls/method_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "proto/inference.pb.h"

namespace mpsd {
namespace {

TEST(CallerInfo, IsLocalOverAUnixSocketAndTheLoopbackAlone) {
  for (const char* peer : {"unix:", "unix:/run/mpsd.sock", "ipv4:127.0.0.1:40312",
                           "ipv4:127.1.2.3:1", "ipv6:[::1]:40312"}) {
    EXPECT_TRUE(CallerInfo{peer}.IsLocal()) << peer;
  }
  for (const char* peer : {"", "ipv4:192.168.0.1:40312", "ipv4:12.7.0.1:1", "ipv6:[::12]:1",
                           "ipv6:[fe80::1]:1", "ipv4:1270.0.0.1:1"}) {
    EXPECT_FALSE(CallerInfo{peer}.IsLocal()) << peer;
  }
}

TEST(MethodTable, FindsWhatWasAdded) {
  MethodTable table;
  table.AddWatched(
      "/a.B/C", [] { return uint64_t{7}; },
      [](const CallerInfo&, absl::string_view request, std::string* response) {
        *response = std::string(request) + "!";
        return absl::OkStatus();
      });
  const MethodTable::Method* method = table.Find("/a.B/C");
  ASSERT_NE(method, nullptr);
  EXPECT_EQ(method->kind, MethodTable::Kind::kWatched);
  std::string response;
  EXPECT_TRUE(method->unary({}, "hello", &response).ok());
  EXPECT_EQ(response, "hello!");
  EXPECT_EQ(method->state(), 7u);
  for (const char* name : {"", "/a.B/", "/a.B/C ", "a.B/C"}) {
    EXPECT_EQ(table.Find(name), nullptr) << name;
  }
}

TEST(MethodTable, ADeferredMethodAnswersWhenItLikes) {
  MethodTable table;
  std::function<void(const absl::Status&)> kept;
  table.AddTypedDeferred<inference::ModelReadyRequest>(
      "/x", [&](const CallerInfo&, const auto& request, auto done) {
        EXPECT_EQ(request.name(), "m");
        kept = done;
      });
  std::vector<absl::Status> answers;
  const auto answer = [&](const absl::Status& status, const std::string&) {
    answers.push_back(status);
  };
  const MethodTable::Method* method = table.Find("/x");
  EXPECT_EQ(method->kind, MethodTable::Kind::kDeferred);
  inference::ModelReadyRequest request;
  request.set_name("m");
  method->deferred({}, request.SerializeAsString(), answer);
  EXPECT_TRUE(answers.empty());
  kept(absl::NotFoundError("no"));
  method->deferred({}, "\xff", answer);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0], absl::NotFoundError("no"));
  EXPECT_EQ(answers[1].code(), absl::StatusCode::kInvalidArgument);
}

TEST(MethodTable, TypedMethodsParseAndSerialize) {
  MethodTable table;
  table.AddTyped<inference::ModelReadyRequest, inference::ModelReadyResponse>(
      "/x", MethodTable::Kind::kUnary,
      [](const CallerInfo&, const auto& request, inference::ModelReadyResponse* response) {
        if (request.name() == "refused") return absl::NotFoundError("no");
        response->set_ready(request.name() == "m");
        return absl::OkStatus();
      });
  const MethodTable::Method* method = table.Find("/x");
  inference::ModelReadyRequest request;
  request.set_name("m");
  std::string bytes;
  ASSERT_TRUE(method->unary({}, request.SerializeAsString(), &bytes).ok());
  inference::ModelReadyResponse response;
  ASSERT_TRUE(response.ParseFromString(bytes));
  EXPECT_TRUE(response.ready());
  request.set_name("refused");
  EXPECT_EQ(method->unary({}, request.SerializeAsString(), &bytes), absl::NotFoundError("no"));
  EXPECT_EQ(method->unary({}, "\xff", &bytes).code(), absl::StatusCode::kInvalidArgument);
}

TEST(MethodTableDeath, ANameIsAddedOnce) {
  MethodTable table;
  table.Add("/x", MethodTable::Kind::kUnary, nullptr);
  EXPECT_DEATH(table.Add("/x", MethodTable::Kind::kUnary, nullptr), "check failed");
}

}  // namespace
}  // namespace mpsd
