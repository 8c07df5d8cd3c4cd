#include "client/manual/command_table.h"

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace mpsd::cli {
namespace {

// "TEXT:{a,b}" is "a" or "b"; "INT:INT in [1 - 9]" is a number.
void ReadType(const std::string& type, FlagRow* row) {
  const std::vector<std::string> parts = absl::StrSplit(type, absl::MaxSplits(':', 1));
  const bool is_number = parts[0] == "INT" || parts[0] == "UINT" || parts[0] == "FLOAT";
  row->value = is_number ? "NUMBER" : parts[0];
  if (row->value == kDeviceValue) row->choices = {"auto", "cpu", "cuda", "mps"};
  if (parts.size() < 2 || parts[1].empty() || parts[1].front() != '{') return;
  const size_t end = parts[1].find('}');
  row->choices = absl::StrSplit(parts[1].substr(1, end - 1), ',');
  row->other_values = false;
}

FlagRow RowOf(const CLI::Option& option) {
  FlagRow row;
  for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  row.help = option.get_description();
  row.required = option.get_required();
  row.repeated = option.get_items_expected_max() > 1 ||
                 option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  const bool takes_value = option.get_positional() || option.get_type_size_max() > 0;
  if (takes_value) ReadType(option.get_type_name(), &row);
  if (option.get_positional()) row.names = {option.get_name(true)};
  row.default_value = option.get_default_str();
  row.environment = option.get_envname();
  return row;
}

VerbRow VerbOf(const CLI::App& app) {
  VerbRow row;
  row.name = app.get_name();
  row.help = app.get_description();
  row.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? row.words : row.flags).push_back(RowOf(*option));
  }
  return row;
}

}  // namespace

CommandTable TableOf(const CLI::App& app) {
  CommandTable table;
  table.program = VerbOf(app);
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    table.verbs.push_back(VerbOf(*verb));
  }
  std::vector<std::string> names;
  for (const VerbRow& verb : table.verbs) names.push_back(verb.name);
  for (VerbRow& verb : table.verbs) {
    for (FlagRow& word : verb.words) {
      if (word.value == kVerbValue) word.choices = names;
    }
  }
  return table;
}

const VerbRow* FindVerb(const CommandTable& table, absl::string_view name) {
  for (const VerbRow& verb : table.verbs) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

}  // namespace mpsd::cli
