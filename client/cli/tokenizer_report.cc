#include "client/cli/tokenizer_report.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/format/table.h"

namespace mpsd::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMostPrompts = 16;
constexpr size_t kPromptBytes = 72;
constexpr size_t kLineBytes = 4096;

// Null if the key is missing.
ordered_json MemberOf(const ordered_json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? ordered_json() : *found;
}

// Fit for a line; empty: no such text.
std::string WordsOf(const ordered_json& json, const char* key) {
  const ordered_json text = MemberOf(json, key);
  return text.is_string() ? ShortCell(text.get<std::string>(), kLineBytes) : "";
}

uint64_t NumberOf(const ordered_json& json, const char* key) {
  const ordered_json count = MemberOf(json, key);
  return count.is_number() ? count.get<uint64_t>() : 0;
}

std::string KindText(const ordered_json& tokenizer, const std::string& file) {
  std::string text = absl::StrCat("tokenizer: ", WordsOf(tokenizer, "kind"), ", ",
                                  NumberOf(tokenizer, "pieces"), " pieces, of ", file, "\n");
  const uint64_t beyond = NumberOf(tokenizer, "ids_beyond_model");
  if (beyond == 0) return text;
  const uint64_t bound = NumberOf(tokenizer, "id_bound");
  return absl::StrCat(text, "warning: its ids go up to ", bound - 1, ", but the model has ",
                      bound - beyond, " words: a text with a token beyond them fails\n");
}

std::string SpecialTokensText(const ordered_json& tokenizer) {
  std::string tokens;
  for (const ordered_json& special : MemberOf(tokenizer, "special_tokens")) {
    absl::StrAppend(&tokens, tokens.empty() ? "" : ", ", WordsOf(special, "token"), " ",
                    NumberOf(special, "id"));
  }
  if (tokens.empty()) return "special tokens: none are added\n";
  return absl::StrCat("special tokens: ", tokens, "; a text becomes ",
                      WordsOf(tokenizer, "text_row"), ", a pair ", WordsOf(tokenizer, "pair_row"),
                      "\n");
}

std::string TruncationText(const ordered_json& tokenizer, const std::string& file) {
  const bool is_on = WordsOf(tokenizer, "long_input") == "truncate";
  std::string text = is_on ? absl::StrCat("truncation: on: a longer row is cut on the ",
                                          WordsOf(tokenizer, "cut_side"))
                           : "truncation: off: a longer row is refused";
  const uint64_t unheeded = NumberOf(tokenizer, "unheeded_length");
  if (unheeded > 0) {
    absl::StrAppend(&text, "; the ", unheeded, " tokens in ", file, " are not heeded");
  }
  return text + "\n";
}

std::string PromptCountText(const ordered_json& tokenizer) {
  const size_t count = MemberOf(tokenizer, "prompts").size();
  if (count == 0) return "prompts: none\n";
  const bool has_default = !MemberOf(tokenizer, "default_prompt").is_null();
  return absl::StrCat(
      "prompts: ", count, "; a request that names none gets ",
      has_default ? absl::StrCat("'", WordsOf(tokenizer, "default_prompt"), "'") : "none", "\n");
}

}  // namespace

std::string TokenizerText(const ordered_json& description) {
  const auto found = description.find("tokenizer");
  if (found == description.end()) return "";
  if (!found->is_object()) {
    return "tokenizer: none, since there is no tokenizer.json and no vocab.txt: it takes tokens, "
           "no texts\n";
  }
  if (found->contains("refused")) {
    return absl::StrCat(
        "tokenizer: refused, so the model is not served: ", WordsOf(*found, "refused"), "\n");
  }
  const std::string file = std::filesystem::path(WordsOf(*found, "file")).filename().string();
  return absl::StrCat(KindText(*found, file), SpecialTokensText(*found),
                      TruncationText(*found, file), PromptCountText(*found));
}

std::string PromptsText(const ordered_json& description) {
  const ordered_json prompts = MemberOf(MemberOf(description, "tokenizer"), "prompts");
  if (prompts.empty()) return "";
  Table table({{"PROMPT"}, {"TEXT"}});
  size_t shown = 0;
  for (const auto& [name, text] : prompts.items()) {
    if (++shown > kMostPrompts) break;
    table.AddRow({ShortCell(name),
                  absl::StrCat("'", ShortCell(text.get<std::string>(), kPromptBytes), "'")});
  }
  if (prompts.size() > kMostPrompts) {
    table.AddRow({"…", absl::StrCat(prompts.size() - kMostPrompts, " more; --json has all")});
  }
  return absl::StrCat("\n", table.Text());
}

}  // namespace mpsd::cli
