#include "server/texts/letter_case.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/texts/file_beside.h"
#include "text/tokenizer/fields.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/tokenizer_document.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr char kTokenizerConfig[] = "tokenizer_config.json";
constexpr char kTokenizer[] = "tokenizer.json";
constexpr char kSentenceBertConfig[] = "sentence_bert_config.json";

absl::Status Refuse(const char* file, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", what));
}

// A missing file gives an empty object.
absl::StatusOr<Json> ParseObject(const char* file, const std::string& text) {
  Json json = Json::object();
  if (text.empty()) return json;
  if (absl::Status status = text::ParseJson(text, file, &json); !status.ok()) return status;
  return json;
}

// Without the file's long lists.
absl::StatusOr<Json> ParseTokenizer(absl::string_view text) {
  text::TokenizerDocument document;
  document.parts = Json::object();
  if (text.empty()) return document.parts;
  absl::Status status = text::ParseDocument(text, kTokenizer, &document);
  if (!status.ok()) return status;
  return std::move(document.parts);
}

// Nothing if the flag is missing or null.
absl::Status ReadFlag(const char* file, const Json& json, const char* key,
                      std::optional<bool>* flag) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return absl::OkStatus();
  if (!found->is_boolean()) return Refuse(file, absl::StrCat("'", key, "' must be true or false"));
  *flag = found->get<bool>();
  return absl::OkStatus();
}

struct CaseKeys {
  const char* file;
  const char* lower_case;
  const char* splits_ideographs;
};
constexpr CaseKeys kConfigKeys = {kTokenizerConfig, "do_lower_case", "tokenize_chinese_chars"};
constexpr CaseKeys kNormalizerKeys = {kTokenizer, "lowercase", "handle_chinese_chars"};

struct CaseFlags {
  std::optional<bool> lower;
  std::optional<bool> strips;
  std::optional<bool> splits;
};

absl::StatusOr<CaseFlags> ReadFlags(const CaseKeys& keys, const Json& json) {
  CaseFlags flags;
  absl::Status status = ReadFlag(keys.file, json, keys.lower_case, &flags.lower);
  status.Update(ReadFlag(keys.file, json, "strip_accents", &flags.strips));
  status.Update(ReadFlag(keys.file, json, keys.splits_ideographs, &flags.splits));
  if (!status.ok()) return status;
  return flags;
}

absl::StatusOr<CaseFlags> ReadConfig(const TokenizerFiles& files) {
  const absl::StatusOr<Json> config = ParseObject(kTokenizerConfig, files.tokenizer_config);
  if (!config.ok()) return config.status();
  return ReadFlags(kConfigKeys, *config);
}

// Refuses what WordPiece cannot do for a vocabulary. Accents must agree with `lower`.
absl::Status CheckFlags(const CaseKeys& keys, const CaseFlags& flags, bool lower) {
  if (!flags.splits.value_or(true)) {
    return Refuse(keys.file, absl::StrCat("'", keys.splits_ideographs, "' must be true"));
  }
  if (flags.strips.value_or(lower) != lower) {
    return Refuse(keys.file, absl::StrCat("'strip_accents' must be as '", keys.lower_case, "' is"));
  }
  return absl::OkStatus();
}

bool IsOfType(const Json& part, const char* type) {
  return part.is_object() && part.value("type", Json()) == type;
}

absl::StatusOr<CaseFlags> ReadNormalizer(const TokenizerFiles& files) {
  const absl::StatusOr<Json> tokenizer = ParseTokenizer(files.tokenizer);
  if (!tokenizer.ok()) return tokenizer.status();
  const auto normalizer = tokenizer->find("normalizer");
  if (normalizer == tokenizer->end()) return CaseFlags{};
  if (!IsOfType(*normalizer, "BertNormalizer")) {
    return Refuse(kTokenizer, "its normalizer must be a BertNormalizer");
  }
  return ReadFlags(kNormalizerKeys, *normalizer);
}

absl::StatusOr<LetterCase> TokenizerCase(const TokenizerFiles& files) {
  const absl::StatusOr<CaseFlags> config = ReadConfig(files);
  if (!config.ok()) return config.status();
  std::optional<bool> lower = config->lower;
  if (!lower.has_value()) {
    const absl::StatusOr<CaseFlags> normalizer = ReadNormalizer(files);
    if (!normalizer.ok()) return normalizer.status();
    lower = normalizer->lower.value_or(true);
    if (absl::Status status = CheckFlags(kNormalizerKeys, *normalizer, *lower); !status.ok()) {
      return status;
    }
  }
  if (absl::Status status = CheckFlags(kConfigKeys, *config, *lower); !status.ok()) return status;
  return *lower ? LetterCase::kLower : LetterCase::kKept;
}

// `lowers`: the tokenizer makes lower case itself.
absl::Status CheckSentenceConfig(const TokenizerFiles& files, bool lowers) {
  const absl::StatusOr<Json> sentence =
      ParseObject(kSentenceBertConfig, files.sentence_bert_config);
  if (!sentence.ok()) return sentence.status();
  std::optional<bool> lower;
  absl::Status status = ReadFlag(kSentenceBertConfig, *sentence, "do_lower_case", &lower);
  if (!status.ok() || !lower.value_or(false) || lowers) return status;
  return Refuse(kSentenceBertConfig, "'do_lower_case' must be false for a cased vocabulary");
}

// The tokenizer refuses malformed files.
bool MakesLower(const Json& normalizer) {
  if (IsOfType(normalizer, "Lowercase")) return true;
  if (IsOfType(normalizer, "BertNormalizer")) return normalizer.value("lowercase", Json()) != false;
  if (!IsOfType(normalizer, "Sequence")) return false;
  const Json steps = normalizer.value("normalizers", Json::array());
  return steps.is_array() && std::any_of(steps.begin(), steps.end(), MakesLower);
}

// `config` is what transformers would have the normalizer do.
absl::Status CompareFlags(const CaseFlags& normalizer, const CaseFlags& config) {
  const bool lower = normalizer.lower.value_or(true);
  if (config.lower.value_or(lower) != lower) {
    return Refuse(kTokenizerConfig, "'do_lower_case' must be as 'lowercase' in tokenizer.json is");
  }
  const bool strips = normalizer.strips.value_or(lower);
  const bool says_accents = config.lower.has_value() || config.strips.has_value();
  if (says_accents && config.strips.value_or(lower) != strips) {
    return Refuse(kTokenizerConfig, "'strip_accents' must be as in tokenizer.json");
  }
  const bool splits = normalizer.splits.value_or(true);
  if (config.splits.value_or(splits) != splits) {
    return Refuse(
        kTokenizerConfig,
        "'tokenize_chinese_chars' must be as 'handle_chinese_chars' in tokenizer.json is");
  }
  return absl::OkStatus();
}

// The class PreTrainedTokenizerFast takes a tokenizer.json as it is.
absl::Status CheckNormalizer(const Json& normalizer, const CaseFlags& config,
                             const TokenizerFiles& files) {
  if (!IsOfType(normalizer, "BertNormalizer")) return absl::OkStatus();
  const absl::StatusOr<Json> json = ParseObject(kTokenizerConfig, files.tokenizer_config);
  if (!json.ok()) return json.status();
  if (json->value("tokenizer_class", Json()) == "PreTrainedTokenizerFast") return absl::OkStatus();
  const absl::StatusOr<CaseFlags> flags = ReadFlags(kNormalizerKeys, normalizer);
  return flags.ok() ? CompareFlags(*flags, config) : flags.status();
}

absl::Status ReadBeside(const std::string& tokenizer_path, const char* name, uint64_t bytes_max,
                        std::string* text) {
  absl::StatusOr<std::string> content = ReadFileBeside(tokenizer_path, name, bytes_max);
  if (content.ok()) *text = *std::move(content);
  return content.status();
}

absl::Status ReadSettings(const std::string& path, TokenizerFiles* files) {
  absl::Status status =
      ReadBeside(path, kTokenizerConfig, kMaxSettingsBytes, &files->tokenizer_config);
  status.Update(
      ReadBeside(path, kSentenceBertConfig, kMaxSettingsBytes, &files->sentence_bert_config));
  return status;
}

absl::Status Beside(const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat("beside ", path, ": ", status.message()));
}

}  // namespace

absl::StatusOr<LetterCase> LetterCaseOf(const TokenizerFiles& files) {
  const absl::StatusOr<LetterCase> told = TokenizerCase(files);
  if (!told.ok()) return told;
  absl::Status status = CheckSentenceConfig(files, *told == LetterCase::kLower);
  if (!status.ok()) return status;
  return told;
}

absl::Status CheckSettings(const TokenizerFiles& files) {
  const absl::StatusOr<CaseFlags> config = ReadConfig(files);
  if (!config.ok()) return config.status();
  const bool is_silent =
      !config->lower.has_value() && !config->strips.has_value() && !config->splits.has_value();
  if (is_silent && CheckSentenceConfig(files, /*lowers=*/false).ok()) return absl::OkStatus();
  const absl::StatusOr<Json> tokenizer = ParseTokenizer(files.tokenizer);
  if (!tokenizer.ok()) return tokenizer.status();
  const Json normalizer = tokenizer->value("normalizer", Json());
  absl::Status status = CheckNormalizer(normalizer, *config, files);
  status.Update(CheckSentenceConfig(files, MakesLower(normalizer)));
  return status;
}

absl::StatusOr<LetterCase> ReadLetterCase(const std::string& path) {
  TokenizerFiles files;
  std::string tokenizer;
  absl::Status status = ReadSettings(path, &files);
  status.Update(ReadBeside(path, kTokenizer, text::kMaxTokenizerBytes, &tokenizer));
  if (!status.ok()) return Beside(path, status);
  files.tokenizer = tokenizer;
  const absl::StatusOr<LetterCase> told = LetterCaseOf(files);
  if (!told.ok()) return Beside(path, told.status());
  return told;
}

absl::Status CheckSettingsBeside(const std::string& path, const std::string& tokenizer) {
  TokenizerFiles files;
  absl::Status status = ReadSettings(path, &files);
  if (!status.ok()) return Beside(path, status);
  if (files.tokenizer_config.empty() && files.sentence_bert_config.empty()) return status;
  files.tokenizer = tokenizer;
  return Beside(path, CheckSettings(files));
}

}  // namespace mpsd
