#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "text/normalize/bert_normalizer.h"
#include "text/split/simple_pre_tokenizers.h"
#include "text/subword/wordpiece.h"
#include "text/tokenizer/tokenizer.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

constexpr const char* kSpecialTokens[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

// If two lines are equal the last one counts.
absl::StatusOr<std::vector<VocabularyToken>> ReadLines(absl::string_view words) {
  absl::ConsumeSuffix(&words, "\n");
  absl::flat_hash_map<absl::string_view, int32_t> ids;
  int32_t next_id = 0;
  for (absl::string_view line : absl::StrSplit(words, '\n')) {
    if (ids.size() >= kMaxTokens) {
      return absl::InvalidArgumentError("the vocabulary has too many words");
    }
    absl::ConsumeSuffix(&line, "\r");
    ids[line] = next_id++;
  }
  std::vector<VocabularyToken> tokens;
  for (const auto& [line, id] : ids) tokens.push_back({line, id});
  return tokens;
}

}  // namespace

absl::StatusOr<Tokenizer> Tokenizer::FromVocabulary(absl::string_view words, bool lowers_case) {
  std::string storage;
  if (ValidUtf8(words, &storage).data() != words.data()) {
    return absl::InvalidArgumentError("the vocabulary is not UTF-8");
  }
  const auto tokens = ReadLines(words);
  if (!tokens.ok()) return tokens.status();
  absl::StatusOr<WordPiece> model = WordPiece::Make({}, *tokens);
  if (!model.ok()) return model.status();
  const int32_t cls = model->Find("[CLS]");
  const int32_t sep = model->Find("[SEP]");
  if (cls < 0 || sep < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the vocabulary has no ", cls < 0 ? "[CLS]" : "[SEP]"));
  }
  TokenizerParts parts;
  parts.normalizer =
      std::make_unique<BertNormalizer>(BertNormalizerOptions{true, true, lowers_case, lowers_case});
  parts.pre_tokenizer = std::make_unique<BertPreTokenizer>();
  for (const char* name : kSpecialTokens) {
    AddedToken token;
    token.id = model->Find(name);
    token.content = name;
    token.special = true;
    if (token.id >= 0) parts.added_tokens.push_back(std::move(token));
  }
  parts.model = std::make_unique<WordPiece>(*std::move(model));
  parts.frame = BertFrame(cls, sep);
  return Make(std::move(parts));
}

}  // namespace mpsd::text
