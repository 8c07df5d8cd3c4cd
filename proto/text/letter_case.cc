#include "proto/text/letter_case.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/whole_file.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr char kTokenizerConfig[] = "tokenizer_config.json";
constexpr char kTokenizer[] = "tokenizer.json";
constexpr char kSentenceBertConfig[] = "sentence_bert_config.json";
constexpr uint64_t kMaxFileBytes = 64 << 20;

absl::Status Refuse(const char* file, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", what));
}

// An empty object for a file that is not there.
absl::StatusOr<Json> ParseObject(const char* file, const std::string& text) {
  if (text.empty()) return Json::object();
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Refuse(file, "is no JSON object");
  return json;
}

// Nothing where the flag is missing or null.
absl::StatusOr<std::optional<bool>> ReadFlag(const char* file, const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  if (!found->is_boolean()) return Refuse(file, absl::StrCat("'", key, "' must be true or false"));
  return found->get<bool>();
}

// The keys of one kind of file.
struct CaseKeys {
  const char* file;
  const char* lower_case;
  const char* splits_ideographs;
};
constexpr CaseKeys kConfigKeys = {kTokenizerConfig, "do_lower_case", "tokenize_chinese_chars"};
constexpr CaseKeys kNormalizerKeys = {kTokenizer, "lowercase", "handle_chinese_chars"};

// Nothing where the file does not say it.
absl::StatusOr<std::optional<LetterCase>> ReadCase(const CaseKeys& keys, const Json& json) {
  const auto lower = ReadFlag(keys.file, json, keys.lower_case);
  if (!lower.ok()) return lower.status();
  const auto strips = ReadFlag(keys.file, json, "strip_accents");
  if (!strips.ok()) return strips.status();
  const auto splits = ReadFlag(keys.file, json, keys.splits_ideographs);
  if (!splits.ok()) return splits.status();
  if (!splits->value_or(true)) {
    return Refuse(keys.file, absl::StrCat("'", keys.splits_ideographs, "' must be true"));
  }
  if (!lower->has_value()) return std::nullopt;
  if (strips->value_or(**lower) != **lower) {
    return Refuse(keys.file, absl::StrCat("'strip_accents' must be as '", keys.lower_case, "' is"));
  }
  return **lower ? LetterCase::kLower : LetterCase::kKept;
}

absl::StatusOr<std::optional<LetterCase>> ReadNormalizer(const Json& tokenizer) {
  const auto normalizer = tokenizer.find("normalizer");
  if (normalizer == tokenizer.end()) return std::nullopt;
  if (!normalizer->is_object() || normalizer->value("type", Json()) != "BertNormalizer") {
    return Refuse(kTokenizer, "its normalizer must be a BertNormalizer");
  }
  return ReadCase(kNormalizerKeys, *normalizer);
}

absl::StatusOr<LetterCase> TokenizerCase(const TokenizerFiles& files) {
  const absl::StatusOr<Json> config = ParseObject(kTokenizerConfig, files.tokenizer_config);
  if (!config.ok()) return config.status();
  const auto told = ReadCase(kConfigKeys, *config);
  if (!told.ok()) return told.status();
  if (told->has_value()) return **told;
  const absl::StatusOr<Json> tokenizer = ParseObject(kTokenizer, files.tokenizer);
  if (!tokenizer.ok()) return tokenizer.status();
  const auto normalized = ReadNormalizer(*tokenizer);
  if (!normalized.ok()) return normalized.status();
  return normalized->value_or(LetterCase::kLower);
}

absl::Status ReadBeside(const std::string& vocab_path, const char* name, std::string* text) {
  const std::string path = std::filesystem::path(vocab_path).replace_filename(name).string();
  absl::StatusOr<std::string> content = ReadWholeFile(path, kMaxFileBytes);
  if (absl::IsNotFound(content.status())) return absl::OkStatus();
  if (content.ok()) *text = *std::move(content);
  return content.status();
}

}  // namespace

absl::StatusOr<LetterCase> LetterCaseOf(const TokenizerFiles& files) {
  const absl::StatusOr<LetterCase> told = TokenizerCase(files);
  if (!told.ok()) return told;
  const absl::StatusOr<Json> sentence =
      ParseObject(kSentenceBertConfig, files.sentence_bert_config);
  if (!sentence.ok()) return sentence.status();
  const auto lower = ReadFlag(kSentenceBertConfig, *sentence, "do_lower_case");
  if (!lower.ok()) return lower.status();
  if (lower->value_or(false) && *told == LetterCase::kKept) {
    return Refuse(kSentenceBertConfig, "'do_lower_case' must be false for a cased vocabulary");
  }
  return told;
}

absl::StatusOr<LetterCase> ReadLetterCase(const std::string& vocab_path) {
  TokenizerFiles files;
  absl::Status status = ReadBeside(vocab_path, kTokenizerConfig, &files.tokenizer_config);
  status.Update(ReadBeside(vocab_path, kTokenizer, &files.tokenizer));
  status.Update(ReadBeside(vocab_path, kSentenceBertConfig, &files.sentence_bert_config));
  if (!status.ok()) return status;
  absl::StatusOr<LetterCase> told = LetterCaseOf(files);
  if (told.ok()) return told;
  return absl::InvalidArgumentError(
      absl::StrCat("beside ", vocab_path, ": ", told.status().message()));
}

}  // namespace mpsd
