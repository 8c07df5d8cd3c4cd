#include "client/manual/manual_page.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/manual/page_head.h"
#include "client/manual/roff.h"

namespace mpsd::cli {
namespace {

constexpr char kSeeAlso[] = "SEE ALSO";

// [MODEL_FILE ...]
std::string WordInSynopsis(const FlagRow& row) {
  const std::string word = absl::StrCat(RoffItalic(row.names[0]), row.repeated ? " ..." : "");
  return row.required ? word : absl::StrCat("[", word, "]");
}

// -h, --config FILE
std::string FlagTerm(const FlagRow& row) {
  if (row.names[0][0] != '-') return RoffItalic(row.names[0]);
  std::vector<std::string> names;
  for (const std::string& name : row.names) names.push_back(RoffBold(name));
  const std::string value = row.value.empty() ? "" : absl::StrCat(" ", RoffItalic(row.value));
  return absl::StrCat(absl::StrJoin(names, ", "), value);
}

std::string FlagText(const FlagRow& row) {
  std::string text = row.help;
  const auto add = [&text](absl::string_view what, const std::string& value) {
    if (!value.empty()) absl::StrAppend(&text, text.empty() ? "" : "; ", what, value);
  };
  if (!row.other_values) add("one of: ", absl::StrJoin(row.choices, ", "));
  add("default: ", row.default_value);
  add("environment: ", row.environment);
  return absl::StrCat(text, ".");
}

std::string Rows(absl::string_view title, const std::vector<FlagRow>& rows) {
  if (rows.empty()) return "";
  std::string text = RoffSection(title);
  for (const FlagRow& row : rows) text += RoffItem(FlagTerm(row), FlagText(row));
  return text;
}

std::string Paragraphs(absl::string_view text) {
  std::string page;
  for (const absl::string_view paragraph : absl::StrSplit(text, "\n\n", absl::SkipWhitespace())) {
    absl::StrAppend(&page, page.empty() ? "" : ".PP\n", RoffText(paragraph), "\n");
  }
  return page;
}

// A footer is "Title: text", or "Title:" and lines.
std::string Footer(absl::string_view footer) {
  if (footer.empty()) return "";
  const std::vector<absl::string_view> parts = absl::StrSplit(footer, absl::MaxSplits(':', 1));
  const absl::string_view text = parts.size() < 2 ? "" : parts[1];
  const std::string title = absl::AsciiStrToUpper(parts[0]);
  if (text.empty() || text.front() != '\n') {
    return absl::StrCat(RoffSection(title), Paragraphs(absl::StripAsciiWhitespace(text)));
  }
  return absl::StrCat(RoffSection(title), RoffLines(text.substr(1)));
}

std::string Reference(absl::string_view page, int section) {
  return absl::StrCat(RoffBold(page), "(", section, ")");
}

}  // namespace

std::string ProgramPage(const CommandTable& table, const PageFacts& facts) {
  const VerbRow& program = table.program;
  std::string page = PageHead("mpsd", 1, "an inference server for PyTorch models", facts);
  absl::StrAppend(&page, RoffSection("SYNOPSIS"), RoffBold("mpsd"), " ", RoffItalic("VERB"), " [",
                  RoffItalic("OPTIONS"), "]\n", RoffSection("DESCRIPTION"),
                  Paragraphs(program.help), RoffSection("VERBS"));
  std::vector<std::string> pages = {Reference("mpsd.json", 5)};
  for (const VerbRow& verb : table.verbs) {
    page += RoffItem(RoffBold(verb.name), absl::StrCat(verb.help, "."));
    pages.push_back(Reference(absl::StrCat("mpsd-", verb.name), 1));
  }
  absl::StrAppend(&page, Rows("OPTIONS", program.flags), Footer(program.footer),
                  RoffSection(kSeeAlso), absl::StrJoin(pages, ",\n"), "\n");
  return page;
}

std::string VerbPage(const VerbRow& verb, const PageFacts& facts) {
  const std::string name = absl::StrCat("mpsd-", verb.name);
  std::string page = PageHead(name, 1, verb.help, facts);
  absl::StrAppend(&page, RoffSection("SYNOPSIS"), RoffBold(absl::StrCat("mpsd ", verb.name)), " [",
                  RoffItalic("OPTIONS"), "]");
  for (const FlagRow& row : verb.words) absl::StrAppend(&page, " ", WordInSynopsis(row));
  absl::StrAppend(&page, "\n", Rows("ARGUMENTS", verb.words), Rows("OPTIONS", verb.flags),
                  Footer(verb.footer), RoffSection(kSeeAlso), Reference("mpsd", 1), ",\n",
                  Reference("mpsd.json", 5), "\n");
  return page;
}

}  // namespace mpsd::cli
