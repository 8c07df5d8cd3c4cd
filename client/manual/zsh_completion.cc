#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/manual/completion.h"

namespace mpsd::cli {
namespace {

constexpr char kZshBegin[] = R"sh(#compdef mpsd
# zsh completion of mpsd. `mpsd completion zsh` writes this file.
_mpsd() {
  local context state line
  typeset -A opt_args
  local -a verbs
  verbs=(
)sh";

constexpr char kZshMiddle[] = R"sh(
  case $state in
    verb) _describe verb verbs ;;
    rest)
      case $words[1] in
)sh";

// The completion system's first use runs the file as the function's body.
constexpr char kZshEnd[] = R"sh(      esac ;;
  esac
}

if [ "$funcstack[1]" = _mpsd ]; then
  _mpsd "$@"
else
  compdef _mpsd mpsd
fi
)sh";

// Inside single quotes, where a spec of _arguments ends at ':' and ']'.
std::string ZshText(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"\\", "\\\\"}, {":", "\\:"}, {"[", "\\["}, {"]", "\\]"}, {"'", "'\\''"}});
}

std::string ZshAction(const FlagRow& row) {
  if (!row.choices.empty()) return absl::StrCat("(", absl::StrJoin(row.choices, " "), ")");
  if (row.value == kFileValue) return "_files";
  if (row.value == kFolderValue) return "_files -/";
  return " ";  // the shell does not know it
}

std::string ZshFlag(const FlagRow& row, const std::string& name) {
  const std::string value =
      row.value.empty() ? "" : absl::StrCat(":", ZshText(row.value), ":", ZshAction(row));
  const std::string other =
      row.repeated ? "*" : absl::StrCat("(", absl::StrJoin(row.names, " "), ")");
  const std::string equals = row.value.empty() || name[1] != '-' ? "" : "=";
  return absl::StrCat("'", other, name, equals, "[", ZshText(row.help), "]", value, "'");
}

std::string ZshFlags(const VerbRow& verb) {
  std::string text;
  for (const FlagRow& row : verb.flags) {
    for (const std::string& name : row.names) {
      absl::StrAppend(&text, " \\\n          ", ZshFlag(row, name));
    }
  }
  return text;
}

std::string ZshVerbCase(const VerbRow& verb) {
  std::string text = absl::StrCat("        ", verb.name, ") _arguments", ZshFlags(verb));
  for (const FlagRow& row : verb.words) {
    const std::string place = row.repeated ? "*" : row.required ? "" : ":";
    absl::StrAppend(&text, " \\\n          '", place, ":", ZshText(row.names[0]), ":",
                    ZshAction(row), "'");
  }
  return text + " ;;\n";
}

}  // namespace

std::string ZshCompletion(const CommandTable& table) {
  std::string text = kZshBegin;
  for (const VerbRow& verb : table.verbs) {
    const std::string help = absl::StrReplaceAll(verb.help, {{"'", "'\\''"}});
    absl::StrAppend(&text, "    '", verb.name, ":", help, "'\n");
  }
  absl::StrAppend(&text, "  )\n  _arguments -C '1:verb:->verb' '*::argument:->rest'",
                  ZshFlags(table.program), kZshMiddle);
  for (const VerbRow& verb : table.verbs) text += ZshVerbCase(verb);
  return text + kZshEnd;
}

}  // namespace mpsd::cli
