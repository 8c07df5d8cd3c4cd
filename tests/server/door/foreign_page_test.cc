// Pages of other sites, and what the door tells them.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/server/door/door_fixture.h"

namespace mpsd {
namespace {

class ForeignPageTest : public HttpDoorTest {
 protected:
  void List(std::vector<std::string> sites) {
    context_.origins = std::move(sites);
    door_ = std::make_unique<HttpDoor>(context_, &thread_);
  }
};

TEST_F(ForeignPageTest, ForeignPagesAreRefusedWhateverTheyAsk) {
  for (const char* line : {"POST /v2/models/m/infer", "POST /v2/repository/models/m/unload",
                           "GET /livez", "GET /nothing", "OPTIONS /v2"}) {
    EXPECT_EQ(CodeOf(line, "Origin: https://evil.example\r\n", "x"), 403) << line;
    EXPECT_TRUE(absl::StrContains(body(), "listen.cors")) << body();
    EXPECT_EQ(call_->added, "") << "the page must not read it";
  }
}

TEST_F(ForeignPageTest, ALinkOfAnotherSiteMayBeFollowed) {
  const std::string link =
      "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: ";
  EXPECT_EQ(CodeOf("GET /livez", link + "document\r\n"), 200);
  EXPECT_EQ(CodeOf("GET /livez", link + "iframe\r\n"), 403);
  EXPECT_EQ(CodeOf("POST /v2/repository/index", link + "document\r\n"), 403);
  EXPECT_EQ(CodeOf("GET /livez", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"), 403);
}

TEST_F(ForeignPageTest, ANameThatCouldBeAnybodysIsRefused) {
  FakeHttpCall call("GET /livez", "", "", "evil.example:8000");
  EXPECT_EQ(door_->Arrived(&call), nullptr);
  EXPECT_EQ(call.reply->status, 403);
  EXPECT_TRUE(absl::StrContains(call.reply->body, "listen.hosts")) << call.reply->body;
}

TEST_F(ForeignPageTest, ListedPagesAreToldThatTheyMay) {
  List({"https://app.example", "http://localhost:3000"});
  EXPECT_EQ(CodeOf("GET /livez", "Origin: https://app.example\r\n"), 200);
  EXPECT_TRUE(absl::StartsWith(
      call_->added, "Access-Control-Allow-Origin: https://app.example\r\nVary: Origin\r\n"))
      << call_->added;
  EXPECT_EQ(CodeOf("GET /nothing", "Origin: https://app.example\r\n"), 404);
  EXPECT_TRUE(absl::StrContains(call_->added, "Allow-Origin: https://app.example"));
  List({"*"});
  EXPECT_EQ(CodeOf("GET /livez", "Origin: https://any.example\r\n"), 200);
  EXPECT_TRUE(absl::StartsWith(call_->added, "Access-Control-Allow-Origin: *\r\n"));
}

TEST_F(ForeignPageTest, APreflightNeedsNoCredentials) {
  List({"https://app.example", "http://localhost:3000"});
  SetRules();
  const std::string headers =
      "Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n";
  for (const char* path : {"/v2/models/m/infer", "/nothing"}) {
    EXPECT_EQ(CodeOf(absl::StrCat("OPTIONS ", path), headers), 200) << path;
    EXPECT_TRUE(absl::StrContains(call_->reply->headers, "Allow-Methods: GET, HEAD, POST\r\n"));
    EXPECT_TRUE(absl::StrContains(call_->reply->headers, "Allow-Headers: Authorization, "));
    EXPECT_TRUE(absl::StrContains(call_->reply->headers, ", *\r\n")) << "a library's own headers";
  }
  EXPECT_EQ(CodeOf("POST /v2/models/m/infer", headers, kBody), 401);
  EXPECT_EQ(CodeOf("OPTIONS /v2", "Access-Control-Request-Method: POST\r\n"), 401);
}

}  // namespace
}  // namespace mpsd
