#include "server/door/page/status_page.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "server/access/sha256.h"
#include "server/door/page/page_files.h"

namespace mpsd {
namespace {

using control::v1::ModelStatus;
using control::v1::StatusReply;
using control::v1::WorkerStatus;
using testing::HasSubstr;
using testing::Not;

std::string DigestOf(absl::string_view element) {
  const absl::string_view page = kPageFile;
  const size_t begin = page.find(absl::StrCat("<", element, ">")) + element.size() + 2;
  const size_t end = page.find(absl::StrCat("</", element, ">"));
  const auto digest = *Sha256(page.substr(begin, end - begin));
  return absl::Base64Escape({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

StatusReply OneModel() {
  StatusReply status;
  status.set_server_name("mine");
  ModelStatus* const model = status.add_models();
  model->set_name("encoder");
  model->set_state("ready");
  model->set_queued_requests(17);
  model->mutable_counts()->set_answered_requests(4321);
  WorkerStatus* const worker = model->add_workers();
  worker->set_restarts(23);
  worker->set_last_exit("signal 9 (SIGKILL)");
  worker->add_last_lines("an earlier line");
  worker->add_last_lines("out of tea");
  return status;
}

TEST(StatusPage, WithoutScriptModelsAndWorkersAreRead) {
  const std::string page = StatusPage().PageOf(OneModel());
  for (const char* text : {"mine", "not ready", "<td>encoder</td>", "<td>17</td>", "<td>4321</td>",
                           "<td>23</td>", "<td>signal 9 (SIGKILL)</td>", "<td>out of tea</td>"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  EXPECT_THAT(page, Not(HasSubstr("an earlier line")));
  EXPECT_TRUE(absl::StartsWith(page, "<!doctype html>"));
  EXPECT_TRUE(absl::EndsWith(page, "</html>\n"));
}

TEST(StatusPage, LimitsAndWarningsAreRead) {
  StatusReply status;
  EXPECT_THAT(StatusPage().PageOf(status), Not(HasSubstr("<li>")));
  status.add_warnings("the sandbox is off");
  status.add_limits()->set_name("message_bytes");
  status.mutable_limits(0)->set_value(67108864);
  const std::string page = StatusPage().PageOf(status);
  EXPECT_THAT(page, HasSubstr("<li>the sandbox is off</li>"));
  EXPECT_THAT(page, HasSubstr("<td>message_bytes</td><td>67108864</td>"));
}

TEST(StatusPage, TextsOfModelsAreNoMarkup) {
  constexpr char kEvil[] = "</td><script>alert('1')</script>&\"";
  StatusReply status = OneModel();
  status.set_server_name(kEvil);
  status.add_warnings(kEvil);
  ModelStatus* const model = status.mutable_models(0);
  model->set_name(kEvil);
  model->set_state(kEvil);
  model->set_spec(kEvil);
  model->mutable_workers(0)->set_last_exit(kEvil);
  model->mutable_workers(0)->add_last_lines(kEvil);
  const std::string page = StatusPage().PageOf(status);
  EXPECT_THAT(page, Not(HasSubstr("alert('1')")));
  EXPECT_THAT(page, HasSubstr("&lt;/td&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;"
                              "&quot;"));
  EXPECT_THAT(StatusPage().RefusedPage(kEvil), Not(HasSubstr("alert('1')")));
}

TEST(StatusPage, ARefusalHasTheReasonAndNoState) {
  const std::string page = StatusPage().RefusedPage("no credentials");
  EXPECT_THAT(page, HasSubstr("role=\"status\">no credentials<"));
  EXPECT_THAT(page, Not(HasSubstr("<h2>Models</h2>")));
}

TEST(StatusPage, ABrowserRunsTheScriptOfThePageAlone) {
  const StatusPage page;
  EXPECT_THAT(page.headers(), HasSubstr("default-src 'none';"));
  EXPECT_THAT(page.headers(), HasSubstr(absl::StrCat("script-src 'sha256-", DigestOf("script"))));
  EXPECT_THAT(page.headers(), HasSubstr(absl::StrCat("style-src 'sha256-", DigestOf("style"))));
  EXPECT_THAT(page.headers(), HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(page.headers(), Not(HasSubstr("unsafe")));
  EXPECT_TRUE(absl::EndsWith(page.headers(), "\r\n"));
}

// Markup that the policy forbids would not work. A page that names another host would tell it.
TEST(StatusPage, TheFileHasNoHandlersStylesOrHostsInItsMarkup) {
  std::string markup(kPageFile.substr(0, kPageFile.find("<script>")));
  absl::StrAppend(&markup, kPageFile.substr(kPageFile.find("</script>")));
  for (const char* text :
       {" style=", "http:", "https:", "src=", " onclick=", " onload=", " onerror=", " onsubmit="}) {
    EXPECT_THAT(markup, Not(HasSubstr(text)));
  }
  EXPECT_THAT(std::string(kPageFile), Not(HasSubstr("innerHTML")));
  EXPECT_THAT(std::string(kPageFile), Not(HasSubstr("eval(")));
}

}  // namespace
}  // namespace mpsd
