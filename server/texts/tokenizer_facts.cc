#include "server/texts/tokenizer_facts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "proto/files/whole_file.h"
#include "proto/link/enum_names.h"
#include "server/request/text_policy.h"
#include "server/texts/text_encoder.h"
#include "text/tokenizer/frame.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/tokenizer_document.h"

namespace mpsd {
namespace {

using nlohmann::ordered_json;
using text::FramePart;
using Json = nlohmann::json;

// A vocab.txt is BERT's and says no more.
absl::StatusOr<Json> ReadTokenizer(const std::string& path) {
  if (absl::EndsWith(path, ".txt")) return Json{{"model", {{"type", "WordPiece"}}}};
  const absl::StatusOr<std::string> content = ReadRegularFile(path, text::kMaxTokenizerBytes);
  if (!content.ok()) return content.status();
  text::TokenizerDocument document;
  const absl::Status status = text::ParseDocument(*content, path, &document);
  if (!status.ok()) return status;
  return std::move(document.parts);
}

// Null if missing.
ordered_json MemberOf(const Json& file, const char* part, const char* key) {
  const auto found = file.find(part);
  if (found == file.end()) return nullptr;
  const auto member = found->find(key);
  if (member == found->end() || member->is_structured()) return nullptr;
  return *member;
}

// Does not count tokens with an empty text.
size_t PieceCount(const TextEncoder& encoder) {
  std::vector<int32_t> ids(static_cast<size_t>(encoder.id_bound()));
  std::iota(ids.begin(), ids.end(), 0);
  const std::vector<std::string> tokens = encoder.TokensOf(ids);
  return static_cast<size_t>(std::count_if(
      tokens.begin(), tokens.end(), [](const std::string& token) { return !token.empty(); }));
}

// With A and B for the texts.
std::string RowText(const std::vector<FramePart>& parts, const TextEncoder& encoder) {
  std::vector<int32_t> ids;
  for (const FramePart& part : parts) ids.push_back(part.id);
  std::vector<std::string> words = encoder.TokensOf(ids);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == FramePart::Kind::kFirst) words[i] = "A";
    if (parts[i].kind == FramePart::Kind::kSecond) words[i] = "B";
  }
  return absl::StrJoin(words, " ");
}

ordered_json SpecialTokens(const TextEncoder& encoder) {
  std::vector<int32_t> ids;
  for (const std::vector<FramePart>* parts : {&encoder.frame().single, &encoder.frame().pair}) {
    for (const FramePart& part : *parts) {
      const bool is_new = std::find(ids.begin(), ids.end(), part.id) == ids.end();
      if (part.kind == FramePart::Kind::kId && is_new) ids.push_back(part.id);
    }
  }
  const std::vector<std::string> tokens = encoder.TokensOf(ids);
  ordered_json special = ordered_json::array();
  for (size_t i = 0; i < ids.size(); ++i) {
    special.push_back({{"token", tokens[i]}, {"id", ids[i]}});
  }
  return special;
}

ordered_json RefusedFacts(const std::string& path, const absl::Status& why) {
  return {{"file", path}, {"refused", std::string(why.message())}};
}

}  // namespace

ordered_json TokenizerFacts(const std::string& path) {
  TextPolicy policy;
  policy.tokenizer = path;
  const auto loaded = TextEncoder::Load(policy);
  if (!loaded.ok()) return RefusedFacts(path, loaded.status());
  const absl::StatusOr<Json> file = ReadTokenizer(path);
  if (!file.ok()) return RefusedFacts(path, file.status());
  const TextEncoder& encoder = **loaded;
  ordered_json facts = {{"file", path}};
  facts["kind"] = MemberOf(*file, "model", "type");
  facts["pieces"] = PieceCount(encoder);
  facts["id_bound"] = encoder.id_bound();
  facts["special_tokens"] = SpecialTokens(encoder);
  facts["text_row"] = RowText(encoder.frame().single, encoder);
  facts["pair_row"] = RowText(encoder.frame().pair, encoder);
  facts["long_input"] = NameOf(policy.long_input);
  facts["cut_side"] = NameOf(encoder.cut_side());
  facts["unheeded_length"] = MemberOf(*file, "truncation", "max_length");
  facts["prompts"] = ordered_json::object();
  for (const auto& [name, text] : encoder.prompts().texts()) facts["prompts"][name] = text;
  const std::optional<std::string>& usual = encoder.prompts().default_name();
  facts["default_prompt"] = usual.has_value() ? ordered_json(*usual) : ordered_json();
  return facts;
}

}  // namespace mpsd
