// CommandTable: the verbs of `mpsd` and their flags, as the command line's own parser knows them.
//
// The help, the completions of shells and the manual pages are made of one table, so none of them
// can name a flag that the parser does not take.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/string_view.h"

namespace mpsd::cli {

// How the value of a flag is called in its row, where a shell can find values by itself.
inline constexpr char kFileValue[] = "FILE";      // a file, or a folder of Hugging Face's
inline constexpr char kFolderValue[] = "FOLDER";  // a folder
inline constexpr char kDeviceValue[] = "DEVICE";  // cpu, cuda, cuda:1, mps
inline constexpr char kVerbValue[] = "VERB";      // a verb of this table

// A flag, or a word of a verb without a dash. Plain data.
struct FlagRow {
  std::vector<std::string> names;    // "-h", "--help"; for a word without a dash: "MODEL_FILE"
  std::string value;                 // "FILE", "TEXT", "NUMBER"; empty: the flag takes none
  std::vector<std::string> choices;  // values to offer
  bool other_values = true;          // values other than those are taken too
  std::string help;
  std::string default_value;
  std::string environment;  // the variable that stands for the flag
  bool required = false;
  bool repeated = false;  // may be given several times
};

// A verb. Plain data.
struct VerbRow {
  std::string name;
  std::string help;
  std::vector<FlagRow> flags;
  std::vector<FlagRow> words;  // in their order
  std::string footer;          // "Examples:" and lines, or "Title: text"
};

// The program, which is a verb of the name "mpsd", and its verbs. Plain data.
struct CommandTable {
  VerbRow program;
  std::vector<VerbRow> verbs;
};

// Reads the table of a parser. Pure.
CommandTable TableOf(const CLI::App& app);

// Null: there is no such verb. The result belongs to `table`. Pure.
const VerbRow* FindVerb(const CommandTable& table, absl::string_view name);

}  // namespace mpsd::cli
