#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/manual/completion.h"

namespace mpsd::cli {
namespace {

std::string FishText(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// A list, paths, or none that the shell knows.
std::string FishValues(const FlagRow& row) {
  if (!row.choices.empty()) {
    return absl::StrCat(" -a ", FishText(absl::StrJoin(row.choices, " ")));
  }
  if (row.value == kFileValue) return " -F";
  if (row.value == kFolderValue) return " -a '(__fish_complete_directories)'";
  return "";
}

std::string FishFlag(const std::string& begin, const FlagRow& row) {
  std::string text = begin;
  for (const std::string& name : row.names) {
    const bool is_long = name[1] == '-';
    absl::StrAppend(&text, is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
  }
  if (!row.value.empty()) absl::StrAppend(&text, " -r", FishValues(row));
  return absl::StrCat(text, " -d ", FishText(row.help), "\n");
}

}  // namespace

std::string FishCompletion(const CommandTable& table) {
  std::string text =
      "# fish completion of mpsd. `mpsd completion fish` writes this file.\ncomplete -c mpsd -f\n";
  const std::string first = "complete -c mpsd -n __fish_use_subcommand";
  for (const FlagRow& row : table.program.flags) text += FishFlag(first, row);
  for (const VerbRow& verb : table.verbs) {
    absl::StrAppend(&text, first, " -a ", verb.name, " -d ", FishText(verb.help), "\n");
    const std::string begin =
        absl::StrCat("complete -c mpsd -n '__fish_seen_subcommand_from ", verb.name, "'");
    for (const FlagRow& row : verb.flags) text += FishFlag(begin, row);
    for (const FlagRow& row : verb.words) {
      const std::string values = FishValues(row);
      if (!values.empty()) absl::StrAppend(&text, begin, values, "\n");
    }
  }
  return text;
}

}  // namespace mpsd::cli
