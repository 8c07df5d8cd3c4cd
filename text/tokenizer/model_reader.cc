#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "text/subword/bpe.h"
#include "text/subword/unigram.h"
#include "text/subword/vocabulary_trie.h"
#include "text/subword/wordpiece.h"
#include "text/tokenizer/part_readers.h"

namespace mpsd::text {
namespace {

// The time of a word grows with its length times that of the longest token.
constexpr int64_t kMaxWordCharacters = 1000;

// A vocabulary that is an object of tokens and their ids.
absl::StatusOr<std::vector<VocabularyToken>> ReadVocabularyObject(const Json& json) {
  if (!json.is_object()) return PartError("model", "'vocab' must be an object");
  if (json.size() > kMaxTokens) return PartError("model", "'vocab' has too many tokens");
  std::vector<VocabularyToken> tokens;
  tokens.reserve(json.size());
  for (const auto& item : json.items()) {
    if (!item.value().is_number_unsigned() || item.value().get<uint64_t>() > kMaxTokens * 2) {
      return PartError("model", absl::StrCat("the token '", item.key(), "' has a wrong id"));
    }
    tokens.push_back({item.key(), item.value().get<int32_t>()});
  }
  return tokens;
}

absl::StatusOr<std::unique_ptr<Model>> ReadWordPiece(Fields fields) {
  WordPieceOptions options;
  options.unk_token = fields.Text("unk_token", options.unk_token);
  options.continuing_subword_prefix =
      fields.Text("continuing_subword_prefix", options.continuing_subword_prefix);
  options.max_input_chars_per_word =
      static_cast<size_t>(fields.Number("max_input_chars_per_word", 100, 0, kMaxWordCharacters));
  const Json* vocabulary = fields.Need("vocab");
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  const auto tokens = ReadVocabularyObject(*vocabulary);
  if (!tokens.ok()) return tokens.status();
  absl::StatusOr<WordPiece> model = WordPiece::Make(options, *tokens);
  if (!model.ok()) return PartError("model", model.status().message());
  return std::make_unique<WordPiece>(*std::move(model));
}

// A merge is an array of two tokens, or in older files a text with a space between them.
absl::Status ReadMerges(const Json& json, std::vector<Bpe::Pair>* merges) {
  if (!json.is_array()) return PartError("model", "'merges' must be an array");
  if (json.size() > kMaxTokens) return PartError("model", "there are too many 'merges'");
  merges->reserve(json.size());
  for (const Json& merge : json) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      merges->push_back({merge[0].get<std::string>(), merge[1].get<std::string>()});
      continue;
    }
    std::vector<std::string> both;
    if (merge.is_string()) both = absl::StrSplit(merge.get<std::string>(), ' ');
    if (both.size() != 2) {
      return PartError("model",
                       absl::StrCat("the merge ", merges->size(), " is no pair of tokens"));
    }
    merges->push_back({both[0], both[1]});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Model>> ReadBpe(Fields fields) {
  BpeOptions options;
  options.unk_token = fields.Text("unk_token", "");
  options.fuse_unk = fields.Flag("fuse_unk", false);
  options.ignore_merges = fields.Flag("ignore_merges", false);
  options.byte_fallback = fields.Flag("byte_fallback", false);
  if (fields.Find("dropout") != nullptr) fields.Complain("'dropout' is not known");
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!fields.Text(affix, "").empty())
      fields.Complain(absl::StrCat("'", affix, "' is not known"));
  }
  const Json* vocabulary = fields.Need("vocab");
  const Json* merge_list = fields.Need("merges");
  absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  const auto tokens = ReadVocabularyObject(*vocabulary);
  if (!tokens.ok()) return tokens.status();
  std::vector<Bpe::Pair> merges;
  status = ReadMerges(*merge_list, &merges);
  if (!status.ok()) return status;
  absl::StatusOr<Bpe> model = Bpe::Make(options, *tokens, merges);
  if (!model.ok()) return PartError("model", model.status().message());
  return std::make_unique<Bpe>(*std::move(model));
}

// A vocabulary that is an array of tokens with their scores; a token's place is its id.
absl::Status ReadScoredTokens(const Json& json, std::vector<VocabularyToken>* tokens,
                              std::vector<double>* scores) {
  if (!json.is_array() || json.empty()) return PartError("model", "'vocab' must be an array");
  if (json.size() > kMaxTokens) return PartError("model", "'vocab' has too many tokens");
  tokens->reserve(json.size());
  scores->reserve(json.size());
  for (const Json& pair : json) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number()) {
      return PartError("model",
                       absl::StrCat("the token ", tokens->size(), " has no text and score"));
    }
    tokens->push_back({pair[0].get<std::string>(), static_cast<int32_t>(tokens->size())});
    scores->push_back(pair[1].get<double>());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Model>> ReadUnigram(Fields fields) {
  const Json* vocabulary = fields.Need("vocab");
  const bool falls_back_to_bytes = fields.Flag("byte_fallback", false);
  const int64_t unknown = fields.Number("unk_id", -1, 0, kMaxTokens);
  std::vector<VocabularyToken> tokens;
  std::vector<double> scores;
  absl::Status status = fields.Finish();
  if (status.ok()) status = ReadScoredTokens(*vocabulary, &tokens, &scores);
  if (!status.ok()) return status;
  if (unknown < 0 || unknown >= static_cast<int64_t>(scores.size())) {
    return PartError("model", "'unk_id' must be the id of a token");
  }
  absl::StatusOr<Unigram> model =
      Unigram::Make(tokens, std::move(scores), static_cast<int32_t>(unknown), falls_back_to_bytes);
  if (!model.ok()) return PartError("model", model.status().message());
  return std::make_unique<Unigram>(*std::move(model));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> ReadModel(const Json& json) {
  Fields fields(json, "model");
  const std::string type = fields.Text("type", "");
  if (type == "WordPiece") return ReadWordPiece(std::move(fields));
  if (type == "BPE") return ReadBpe(std::move(fields));
  if (type == "Unigram") return ReadUnigram(std::move(fields));
  return PartError("model", absl::StrCat("the type '", type, "' is not known"));
}

}  // namespace mpsd::text
