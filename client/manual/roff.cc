#include "client/manual/roff.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace mpsd::cli {

std::string RoffText(absl::string_view text) {
  std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"},
                                                   {"-", "\\-"},
                                                   {"`", "\\(ga"},
                                                   {"'", "\\(aq"},
                                                   {"~", "\\(ti"},
                                                   {"^", "\\(ha"},
                                                   {"\n.", "\n\\&."}});
  if (!escaped.empty() && escaped.front() == '.') escaped.insert(0, "\\&");
  return escaped;
}

std::string RoffBold(absl::string_view text) {
  return absl::StrCat("\\fB", RoffText(text), "\\fR");
}

std::string RoffItalic(absl::string_view text) {
  return absl::StrCat("\\fI", RoffText(text), "\\fR");
}

std::string RoffSection(absl::string_view title) {
  return absl::StrCat(".SH ", RoffText(title), "\n");
}

std::string RoffItem(absl::string_view term, absl::string_view text) {
  return absl::StrCat(".TP\n", term, "\n", RoffText(text), text.empty() ? "" : "\n");
}

std::string RoffLines(absl::string_view lines) {
  return absl::StrCat(".nf\n", RoffText(lines), "\n.fi\n");
}

}  // namespace mpsd::cli
