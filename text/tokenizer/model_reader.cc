#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "text/subword/bpe.h"
#include "text/subword/unigram.h"
#include "text/subword/vocabulary_trie.h"
#include "text/subword/wordpiece.h"
#include "text/tokenizer/part_readers.h"

namespace mpsd::text {
namespace {

// A word's time grows with its length times the longest token's.
constexpr int64_t kMaxWordCharacters = 1000;

absl::StatusOr<std::vector<VocabularyToken>> TokensWithIds(const TokenizerDocument& document) {
  if (document.form != VocabularyForm::kObject)
    return PartError("model", "'vocab' must be an object");
  std::vector<VocabularyToken> tokens;
  tokens.reserve(document.tokens.size());
  for (size_t i = 0; i < document.tokens.size(); ++i) {
    tokens.push_back({document.tokens[i], document.ids[i]});
  }
  return tokens;
}

absl::StatusOr<std::unique_ptr<Model>> ReadWordPiece(Fields fields,
                                                     const TokenizerDocument& document) {
  WordPieceOptions options;
  options.unk_token = fields.Text("unk_token", options.unk_token);
  options.continuing_subword_prefix =
      fields.Text("continuing_subword_prefix", options.continuing_subword_prefix);
  options.max_input_chars_per_word =
      static_cast<size_t>(fields.Number("max_input_chars_per_word", 100, 0, kMaxWordCharacters));
  fields.Need("vocab");
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  const auto tokens = TokensWithIds(document);
  if (!tokens.ok()) return tokens.status();
  absl::StatusOr<WordPiece> model = WordPiece::Make(options, *tokens);
  if (!model.ok()) return PartError("model", model.status().message());
  return std::make_unique<WordPiece>(*std::move(model));
}

absl::StatusOr<std::unique_ptr<Model>> ReadBpe(Fields fields, const TokenizerDocument& document) {
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
  fields.Need("vocab");
  const Json* merge_list = fields.Need("merges");
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  if (*merge_list != true) return PartError("model", "'merges' must be an array");
  const auto tokens = TokensWithIds(document);
  if (!tokens.ok()) return tokens.status();
  std::vector<Bpe::Pair> merges;
  merges.reserve(document.merges.size() / 2);
  for (size_t i = 0; i < document.merges.size(); i += 2) {
    merges.emplace_back(document.merges[i], document.merges[i + 1]);
  }
  absl::StatusOr<Bpe> model = Bpe::Make(options, *tokens, merges);
  if (!model.ok()) return PartError("model", model.status().message());
  return std::make_unique<Bpe>(*std::move(model));
}

absl::StatusOr<std::unique_ptr<Model>> ReadUnigram(Fields fields,
                                                   const TokenizerDocument& document) {
  fields.Need("vocab");
  const bool falls_back_to_bytes = fields.Flag("byte_fallback", false);
  const int64_t unknown = fields.Number("unk_id", -1, 0, kMaxTokens);
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  if (document.form != VocabularyForm::kArray || document.scores.empty()) {
    return PartError("model", "'vocab' must be an array");
  }
  if (unknown < 0 || unknown >= static_cast<int64_t>(document.scores.size())) {
    return PartError("model", "'unk_id' must be the id of a token");
  }
  std::vector<VocabularyToken> tokens;
  tokens.reserve(document.tokens.size());
  for (size_t i = 0; i < document.tokens.size(); ++i) {
    tokens.push_back({document.tokens[i], static_cast<int32_t>(i)});
  }
  absl::StatusOr<Unigram> model =
      Unigram::Make(tokens, document.scores, static_cast<int32_t>(unknown), falls_back_to_bytes);
  if (!model.ok()) return PartError("model", model.status().message());
  return std::make_unique<Unigram>(*std::move(model));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> ReadModel(const Json& json,
                                                 const TokenizerDocument& document) {
  Fields fields(json, "model");
  const std::string type = fields.Text("type", "");
  if (type == "WordPiece") return ReadWordPiece(std::move(fields), document);
  if (type == "BPE") return ReadBpe(std::move(fields), document);
  if (type == "Unigram") return ReadUnigram(std::move(fields), document);
  return PartError("model", absl::StrCat("the type '", type, "' is not known"));
}

}  // namespace mpsd::text
