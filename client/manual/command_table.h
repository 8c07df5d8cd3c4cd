// CommandTable: the verbs of `mpsd` and their flags, as the parser of the command line knows them.
//
// Help, completions and manual pages come from it, so no flag in them is unknown to the parser.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/string_view.h"

namespace mpsd::cli {

// Values that a shell can find by itself.
inline constexpr char kFileValue[] = "FILE";  // or a folder of Hugging Face's
inline constexpr char kFolderValue[] = "FOLDER";
inline constexpr char kDeviceValue[] = "DEVICE";  // cpu, cuda, cuda:1, mps
inline constexpr char kVerbValue[] = "VERB";

// A flag, or a verb's word without a dash. Plain data.
struct FlagRow {
  std::vector<std::string> names;    // "-h", "--help"; for a word: "MODEL_FILE"
  std::string value;                 // "FILE", "TEXT", "NUMBER"; empty: none
  std::vector<std::string> choices;  // values to offer
  bool other_values = true;          // values other than those are taken too
  std::string help;
  std::string default_value;
  std::string environment;  // the variable that stands for the flag
  bool required = false;
  bool repeated = false;
};

// Plain data.
struct VerbRow {
  std::string name;
  std::string help;
  std::vector<FlagRow> flags;
  std::vector<FlagRow> words;  // in order
  std::string footer;          // "Examples:" and lines, or "Title: text"
};

// The program is a verb "mpsd". Plain data.
struct CommandTable {
  VerbRow program;
  std::vector<VerbRow> verbs;
};

// Pure.
CommandTable TableOf(const CLI::App& app);

// Belongs to `table`; null if there is no such verb. Pure.
const VerbRow* FindVerb(const CommandTable& table, absl::string_view name);

}  // namespace mpsd::cli
