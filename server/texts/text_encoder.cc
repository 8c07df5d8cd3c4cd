#include "server/texts/text_encoder.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/files/whole_file.h"
#include "server/request/too_long.h"
#include "server/texts/file_beside.h"
#include "server/texts/letter_case.h"
#include "server/texts/outer_spaces.h"
#include "text/tokenizer/fields.h"

namespace mpsd {
namespace {

absl::StatusOr<text::Tokenizer> Parse(const std::string& path, const std::string& content) {
  if (!absl::EndsWith(path, ".txt")) {
    const absl::Status status = CheckSettingsBeside(path, content);
    if (!status.ok()) return status;
    return text::Tokenizer::Load(content);
  }
  const absl::StatusOr<LetterCase> letter_case = ReadLetterCase(path);
  if (!letter_case.ok()) return letter_case.status();
  return text::Tokenizer::FromVocabulary(content, *letter_case == LetterCase::kLower);
}

// Until 5.4 sentence-transformers did so, and its steps had names with this prefix.
absl::StatusOr<bool> StripsOuterSpaces(const std::string& path) {
  const absl::StatusOr<std::string> steps = ReadFileBeside(path, "modules.json", kMaxSettingsBytes);
  if (!steps.ok()) return steps.status();
  return !steps->empty() && !absl::StrContains(*steps, "\"sentence_transformers.base.");
}

// transformers gives a model the inputs that its tokenizer names. BERT takes missing types as 0.
absl::StatusOr<bool> NamesTypes(const std::string& path) {
  constexpr char kFile[] = "tokenizer_config.json";
  const absl::StatusOr<std::string> content = ReadFileBeside(path, kFile, kMaxSettingsBytes);
  if (!content.ok()) return content.status();
  if (content->empty()) return true;
  text::Json config;
  if (absl::Status status = text::ParseJson(*content, kFile, &config); !status.ok()) return status;
  const auto names = config.find("model_input_names");
  return names == config.end() || !names->is_array() ||
         std::find(names->begin(), names->end(), "token_type_ids") != names->end();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TextEncoder>> TextEncoder::Load(const TextPolicy& policy) {
  const std::string& path = policy.tokenizer;
  const absl::StatusOr<std::string> content = ReadRegularFile(path, text::kMaxTokenizerBytes);
  if (!content.ok()) return content.status();
  absl::StatusOr<text::Tokenizer> tokenizer = Parse(path, *content);
  if (!tokenizer.ok()) {
    return absl::Status(tokenizer.status().code(),
                        absl::StrCat(path, ": ", tokenizer.status().message()));
  }
  absl::StatusOr<Prompts> prompts = ReadPromptsBeside(path);
  if (!prompts.ok()) return prompts.status();
  const absl::StatusOr<bool> strips = StripsOuterSpaces(path);
  if (!strips.ok()) return strips.status();
  const absl::StatusOr<bool> names_types = NamesTypes(path);
  if (!names_types.ok()) return names_types.status();
  auto chat_pairs =
      ChatPairs::ReadBeside(path, *tokenizer, prompts->Find(std::nullopt).value_or(""));
  if (!chat_pairs.ok()) return chat_pairs.status();
  return std::make_shared<const TextEncoder>(*std::move(tokenizer), policy, *strips,
                                             *std::move(prompts), *std::move(chat_pairs),
                                             *names_types);
}

absl::StatusOr<text::Encoding> TextEncoder::Encode(absl::string_view text,
                                                   std::optional<absl::string_view> pair,
                                                   size_t most_tokens,
                                                   const TextWishes& wishes) const {
  const size_t own_most = policy_.max_tokens;
  const size_t most = own_most == 0 ? most_tokens : std::min(own_most, most_tokens);
  text::EncodeOptions options;
  options.max_tokens = most;
  options.cut_side = wishes.cut_side.value_or(policy_.cut_side) == TextSide::kLeft
                         ? text::EncodeOptions::Side::kLeft
                         : text::EncodeOptions::Side::kRight;
  absl::StatusOr<text::Encoding> row = RowOf(text, pair, options);
  if (!row.ok()) return row;
  if (row->cut_count > 0 && wishes.long_input.value_or(policy_.long_input) == LongInput::kError) {
    return TooLong(absl::StrCat("it has ", row->ids.size() + row->cut_count,
                                " tokens, but at most ", most, " are served"));
  }
  if (row->ids.empty()) return absl::InvalidArgumentError("it has no tokens");
  if (!names_types_) row->type_ids.assign(row->ids.size(), 0);
  return row;
}

absl::StatusOr<text::Encoding> TextEncoder::RowOf(absl::string_view text,
                                                  std::optional<absl::string_view> pair,
                                                  const text::EncodeOptions& options) const {
  if (!pair.has_value() && chat_pairs_.has_value()) {
    return absl::InvalidArgumentError("it stands alone, but this model scores pairs of texts");
  }
  if (!pair.has_value()) return tokenizer_.Encode(Stripped(text), options);
  if (!chat_pairs_.has_value()) {
    return tokenizer_.EncodePair(Stripped(text), Stripped(*pair), options);
  }
  return chat_pairs_->Encode(tokenizer_, Stripped(text), Stripped(*pair), options);
}

absl::StatusOr<text::Encoding> TextEncoder::Tokenize(absl::string_view text,
                                                     bool adds_special) const {
  text::EncodeOptions options;
  options.adds_special_tokens = adds_special;
  return tokenizer_.Encode(Stripped(text), options);
}

absl::string_view TextEncoder::Stripped(absl::string_view text) const {
  return strips_ ? WithoutOuterSpaces(text) : text;
}

}  // namespace mpsd
