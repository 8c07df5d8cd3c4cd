#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/manual/completion.h"

namespace mpsd::cli {
namespace {

constexpr char kBashBegin[] =
    R"sh(# bash completion of mpsd. `mpsd completion bash` writes this file.
_mpsd() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local verb= word= flags= words= paths=
  # bash makes three words of --flag=value.
  if [ "$current" = = ]; then
    current=
  elif [ "$before" = = ]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case $word in
      -*) ;;
      *) verb=$word; break ;;
    esac
  done
  case $verb:$before in
)sh";

constexpr char kBashMiddle[] = R"sh(    *) _mpsd_verb ;;
  esac
  # A name of a file may have spaces.
  local IFS=$'\n'
  case $paths:$current in
    *:-*) ;;
    file:*) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); return ;;
    folder:*) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$current")); return ;;
  esac
  IFS=$' \n'
  case $current in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
}

# The flags of the verb, and what its words without a dash may be.
_mpsd_verb() {
  case $verb in
)sh";

constexpr char kBashEnd[] = R"sh(  esac
}

complete -F _mpsd mpsd
)sh";

// Sets `words=…`, `paths=…`, or nothing.
std::string BashValues(const FlagRow& row) {
  if (!row.choices.empty()) return absl::StrCat("words='", absl::StrJoin(row.choices, " "), "'");
  if (row.value == kFileValue) return "paths=file";
  if (row.value == kFolderValue) return "paths=folder";
  return "";
}

std::string BashFlagCases(const VerbRow& verb) {
  std::string text;
  for (const FlagRow& row : verb.flags) {
    if (row.value.empty()) continue;
    const std::string patterns =
        absl::StrJoin(row.names, "|", [&](std::string* out, const std::string& name) {
          absl::StrAppend(out, verb.name, ":", name);
        });
    const std::string values = BashValues(row);
    absl::StrAppend(&text, "    ", patterns, ") ", values.empty() ? "" : values + " ", ";;\n");
  }
  return text;
}

// The values of all words together: a script does not count them.
std::string BashVerbCase(const VerbRow& verb) {
  std::string names;
  for (const FlagRow& row : verb.flags) absl::StrAppend(&names, " ", absl::StrJoin(row.names, " "));
  std::set<std::string> values;
  for (const FlagRow& row : verb.words) values.insert(BashValues(row));
  values.erase("");
  std::string text =
      absl::StrCat("    ", verb.name, ") flags='", names.empty() ? "" : names.substr(1), "'");
  for (const std::string& value : values) absl::StrAppend(&text, "; ", value);
  return text + " ;;\n";
}

}  // namespace

std::string BashCompletion(const CommandTable& table) {
  std::string text = kBashBegin;
  for (const VerbRow& verb : table.verbs) text += BashFlagCases(verb);
  text += kBashMiddle;
  std::vector<std::string> verbs;
  for (const VerbRow& verb : table.verbs) {
    verbs.push_back(verb.name);
    text += BashVerbCase(verb);
  }
  VerbRow program = table.program;
  program.name = "''";
  program.words = {FlagRow{.choices = verbs}};
  return absl::StrCat(text, BashVerbCase(program), kBashEnd);
}

}  // namespace mpsd::cli
