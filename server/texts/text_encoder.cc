#include "server/texts/text_encoder.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/files/whole_file.h"
#include "server/request/too_long.h"
#include "server/texts/file_beside.h"
#include "server/texts/letter_case.h"
#include "server/texts/outer_spaces.h"
#include "text/tokenizer/fields.h"

namespace mpsd {
namespace {

constexpr char kAddedTokens[] = "added_tokens.json";
constexpr char kTokenizerSettingsFile[] = "tokenizer_config.json";

// A missing file gives an empty object.
absl::StatusOr<text::Json> ParseBeside(const std::string& path, const char* name) {
  const absl::StatusOr<std::string> content = ReadFileBeside(path, name, kMaxSettingsBytes);
  if (!content.ok()) return content.status();
  text::Json json = text::Json::object();
  if (content->empty()) return json;
  if (absl::Status status = text::ParseJson(*content, name, &json); !status.ok()) return status;
  return json;
}

// A vocab.txt says of its own tokens alone that a text may name them.
absl::Status CheckToken(const char* file, const text::Json& token) {
  const text::Json content = token.is_object() ? token.value("content", text::Json()) : token;
  for (const char* known : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    if (content == known) return absl::OkStatus();
  }
  const std::string name = content.is_string() ? content.get<std::string>() : "";
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": '", name, "' is added to a vocab.txt; save a tokenizer.json"));
}

absl::Status CheckAddedTokens(const std::string& path) {
  const absl::StatusOr<text::Json> added = ParseBeside(path, kAddedTokens);
  if (!added.ok()) return added.status();
  const absl::StatusOr<text::Json> config = ParseBeside(path, kTokenizerSettingsFile);
  if (!config.ok()) return config.status();
  absl::Status status;
  for (const auto& item : added->items()) status.Update(CheckToken(kAddedTokens, item.key()));
  for (const char* key : {"added_tokens_decoder", "additional_special_tokens"}) {
    const text::Json tokens = config->value(key, text::Json());
    for (const text::Json& token : tokens) status.Update(CheckToken(kTokenizerSettingsFile, token));
  }
  return status;
}

// transformers asks config.json if the tokenizer's own file names no class. A file that cannot be
// read is left to those who need more of it.
absl::Status CheckClass(const std::string& path) {
  for (const char* file : {kTokenizerSettingsFile, "config.json"}) {
    const absl::StatusOr<text::Json> config = ParseBeside(path, file);
    if (!config.ok()) continue;
    const text::Json named = config->value("tokenizer_class", text::Json());
    if (!named.is_string()) continue;
    const std::string name = named.get<std::string>();
    for (const char* known : {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer",
                              "PreTrainedTokenizer", "TokenizersBackend"}) {
      if (absl::StripSuffix(name, "Fast") == known) return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": 'tokenizer_class' is '", name.substr(0, 100), "', whose vocab.txt is not BERT's"));
  }
  return absl::OkStatus();
}

absl::StatusOr<text::Tokenizer> Parse(const std::string& path, const std::string& content) {
  if (!absl::EndsWith(path, ".txt")) {
    const absl::Status status = CheckSettingsBeside(path, content);
    if (!status.ok()) return status;
    return text::Tokenizer::Load(content);
  }
  const absl::StatusOr<LetterCase> letter_case = ReadLetterCase(path);
  if (!letter_case.ok()) return letter_case.status();
  absl::Status status = CheckClass(path);
  status.Update(CheckAddedTokens(path));
  if (!status.ok()) return status;
  return text::Tokenizer::FromVocabulary(content, *letter_case == LetterCase::kLower);
}

// Until 5.4 sentence-transformers did so, and its steps had names with this prefix.
absl::StatusOr<bool> StripsOuterSpaces(const std::string& path) {
  const absl::StatusOr<std::string> steps = ReadFileBeside(path, "modules.json", kMaxSettingsBytes);
  if (!steps.ok()) return steps.status();
  return !steps->empty() && !absl::StrContains(*steps, "\"sentence_transformers.base.");
}

// transformers gives a model the inputs that its tokenizer names. BERT takes missing types as 0.
bool NamesTypes(const text::Json& config) {
  const auto names = config.find("model_input_names");
  return names == config.end() || !names->is_array() ||
         std::find(names->begin(), names->end(), "token_type_ids") != names->end();
}

TextSide CutSideOf(const text::Json& config) {
  const auto side = config.find("truncation_side");
  return side != config.end() && *side == "left" ? TextSide::kLeft : TextSide::kRight;
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
  const absl::StatusOr<text::Json> config = ParseBeside(path, kTokenizerSettingsFile);
  if (!config.ok()) return config.status();
  TextPolicy whole = policy;
  if (!whole.cut_side.has_value()) whole.cut_side = CutSideOf(*config);
  auto chat_pairs =
      ChatPairs::ReadBeside(path, *tokenizer, prompts->Find(std::nullopt).value_or(""));
  if (!chat_pairs.ok()) return chat_pairs.status();
  return std::make_shared<const TextEncoder>(*std::move(tokenizer), std::move(whole), *strips,
                                             *std::move(prompts), *std::move(chat_pairs),
                                             NamesTypes(*config));
}

absl::StatusOr<text::Encoding> TextEncoder::Encode(absl::string_view text,
                                                   std::optional<absl::string_view> pair,
                                                   size_t most_tokens,
                                                   const TextWishes& wishes) const {
  const size_t own_most = policy_.max_tokens;
  const size_t most = own_most == 0 ? most_tokens : std::min(own_most, most_tokens);
  text::EncodeOptions options;
  options.max_tokens = most;
  options.cut_side = wishes.cut_side.value_or(cut_side()) == TextSide::kLeft
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
