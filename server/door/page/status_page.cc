#include "server/door/page/status_page.h"

#include <initializer_list>
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "server/access/sha256.h"
#include "server/door/page/page_files.h"

namespace mpsd {
namespace {

// "&lt;" for "<" and so on, safe inside an element and a quoted attribute. Pure.
std::string HtmlText(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

namespace control_pb = control::v1;

constexpr absl::string_view kRefusalMark = "<!--refusal-->";
constexpr absl::string_view kStateMark = "<!--state-->";

// From the first `begin` to the next `end`.
absl::string_view Between(absl::string_view text, absl::string_view begin, absl::string_view end) {
  const size_t first = text.find(begin);
  MPSD_CHECK(first != absl::string_view::npos);
  text.remove_prefix(first + begin.size());
  const size_t last = text.find(end);
  MPSD_CHECK(last != absl::string_view::npos);
  return text.substr(0, last);
}

// 'sha256-…', an inline text's name in a Content-Security-Policy.
std::string SourceOf(absl::string_view text) {
  const std::optional<Sha256Digest> digest = Sha256(text);
  MPSD_CHECK(digest.has_value());
  const absl::string_view bytes(reinterpret_cast<const char*>(digest->data()), digest->size());
  return absl::StrCat("'sha256-", absl::Base64Escape(bytes), "'");
}

std::string HeadersOf(absl::string_view page) {
  return absl::StrCat(
      "Content-Security-Policy: default-src 'none'; connect-src 'self'; img-src data:; script-src ",
      SourceOf(Between(page, "<script>", "</script>")), "; style-src ",
      SourceOf(Between(page, "<style>", "</style>")),
      "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
      "require-trusted-types-for 'script'\r\n"
      "Cache-Control: no-store\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "X-Content-Type-Options: nosniff\r\n");
}

std::string RowOf(const char* element, std::initializer_list<absl::string_view> texts) {
  const auto put = [element](std::string* out, absl::string_view text) {
    absl::StrAppend(out, "<", element, ">", HtmlText(text), "</", element, ">");
  };
  return absl::StrCat("<tr>", absl::StrJoin(texts, "", put), "</tr>\n");
}

std::string CardOf(absl::string_view title, absl::string_view html) {
  return absl::StrCat("<section class=\"card\"><h2>", HtmlText(title), "</h2>", html,
                      "</section>\n");
}

std::string TableOf(absl::string_view rows) {
  return absl::StrCat("<div class=\"scroll\"><table>\n", rows, "</table></div>");
}

std::string ModelRow(const control_pb::ModelStatus& model) {
  return RowOf("td", {model.name(), model.version(), model.state(), model.device(),
                      absl::StrCat(model.lanes()), absl::StrCat(model.queued_requests()),
                      absl::StrCat(model.running_batches()),
                      absl::StrCat(model.counts().answered_requests()), model.spec()});
}

std::string ModelsHtml(const control_pb::StatusReply& status) {
  std::string rows = RowOf("th", {"model", "version", "state", "device", "lanes", "queued",
                                  "running", "answered", "tensors"});
  for (const control_pb::ModelStatus& model : status.models()) rows += ModelRow(model);
  return CardOf("Models", TableOf(rows));
}

std::string WorkersHtml(const control_pb::StatusReply& status) {
  std::string rows = RowOf("th", {"model", "worker", "pid", "state", "device", "lanes", "restarts",
                                  "last exit", "last words"});
  for (const control_pb::ModelStatus& model : status.models()) {
    for (const control_pb::WorkerStatus& worker : model.workers()) {
      const int lines = worker.last_lines_size();
      rows += RowOf("td", {model.name(), absl::StrCat(worker.index()), absl::StrCat(worker.pid()),
                           worker.state(), worker.device(), absl::StrCat(worker.lanes()),
                           absl::StrCat(worker.restarts()), worker.last_exit(),
                           lines > 0 ? worker.last_lines(lines - 1) : ""});
    }
  }
  return CardOf("Workers", TableOf(rows));
}

std::string WarningsHtml(const control_pb::StatusReply& status) {
  if (status.warnings().empty()) return "";
  std::string list;
  for (const std::string& warning : status.warnings()) {
    absl::StrAppend(&list, "<li>", HtmlText(warning), "</li>");
  }
  return CardOf("Warnings", absl::StrCat("<ul>", list, "</ul>"));
}

std::string LimitsHtml(const control_pb::StatusReply& status) {
  std::string rows;
  for (const control_pb::Limit& limit : status.limits()) {
    rows += RowOf("td", {limit.name(), absl::StrFormat("%.15g", limit.value())});
  }
  return CardOf("Limits", TableOf(rows));
}

}  // namespace

StatusPage::StatusPage() : headers_(HeadersOf(kPageFile)) {
  const absl::string_view page = kPageFile;
  const size_t refusal = page.find(kRefusalMark);
  const size_t state = page.find(kStateMark);
  MPSD_CHECK(refusal < state && state != absl::string_view::npos);
  begin_ = page.substr(0, refusal);
  middle_ = page.substr(refusal, state - refusal);
  end_ = page.substr(state);
}

std::string StatusPage::PageOf(const control_pb::StatusReply& status) const {
  const std::string head =
      absl::StrCat("<p>", HtmlText(status.server_name()), " ", HtmlText(status.server_version()),
                   status.ready() ? ": ready" : ": not ready", "</p>\n");
  return absl::StrCat(begin_, middle_, head, WarningsHtml(status), ModelsHtml(status),
                      WorkersHtml(status), LimitsHtml(status), end_);
}

std::string StatusPage::RefusedPage(absl::string_view why) const {
  return absl::StrCat(begin_, HtmlText(why), middle_, end_);
}

}  // namespace mpsd
