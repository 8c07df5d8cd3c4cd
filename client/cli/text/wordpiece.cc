#include "client/cli/text/wordpiece.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cli/text/unicode.h"

namespace mpsd::cli {
namespace {

constexpr size_t kMaxWordCharacters = 100;  // a longer word is unknown as a whole

using Word = std::vector<char32_t>;

// Splits `text` into words, without control characters; in lower case also without accents.
// Punctuation characters and ideographs are words of their own.
std::vector<Word> SplitWords(absl::string_view text, LetterCase letter_case) {
  const bool folds = letter_case == LetterCase::kLower;
  std::vector<Word> words;
  Word word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  Word folded;
  for (const char32_t raw : DecodeUtf8(text)) {
    if (raw == 0 || raw == 0xFFFD || IsControl(raw) || (folds && IsAccent(raw))) continue;
    folded.assign(folds ? 0 : 1, raw);
    if (folds) AppendFolded(raw, &folded);
    const bool alone = IsIdeograph(raw) || IsPunctuation(folded[0]);
    if (alone || IsWhitespace(raw)) end_word();
    if (IsWhitespace(raw)) continue;
    word.insert(word.end(), folded.begin(), folded.end());
    if (alone) end_word();
  }
  end_word();
  return words;
}

}  // namespace

absl::StatusOr<WordPiece> WordPiece::Parse(const Vocabulary& vocabulary) {
  WordPiece pieces;
  pieces.letter_case_ = vocabulary.letter_case;
  absl::string_view words = vocabulary.words;
  absl::ConsumeSuffix(&words, "\n");
  int64_t next_id = 0;
  for (absl::string_view line : absl::StrSplit(words, '\n')) {
    if (pieces.ids_.size() >= kMaxVocabWords) {
      return absl::InvalidArgumentError("the vocabulary has too many words");
    }
    absl::ConsumeSuffix(&line, "\r");
    pieces.ids_[std::string(line)] = next_id++;
  }
  const struct {
    absl::string_view token;
    int64_t* id;
  } needed[] = {{"[CLS]", &pieces.cls_id_}, {"[SEP]", &pieces.sep_id_}, {"[UNK]", &pieces.unk_id_}};
  for (const auto& [token, id] : needed) {
    const auto found = pieces.ids_.find(token);
    if (found == pieces.ids_.end()) {
      return absl::InvalidArgumentError(absl::StrCat("the vocabulary has no ", token));
    }
    *id = found->second;
  }
  const auto pad = pieces.ids_.find("[PAD]");
  if (pad != pieces.ids_.end()) pieces.pad_id_ = pad->second;
  return pieces;
}

Tokens WordPiece::Encode(absl::string_view text) const {
  Tokens tokens;
  tokens.ids = {cls_id_};
  for (const Word& word : SplitWords(text, letter_case_)) AppendWord(word, &tokens.ids);
  if (tokens.ids.size() > kMaxTokens - 1) {
    tokens.cut_count = tokens.ids.size() - (kMaxTokens - 1);
    tokens.ids.resize(kMaxTokens - 1);
  }
  tokens.ids.push_back(sep_id_);
  return tokens;
}

// Takes the longest piece that the vocabulary has, again and again. Pieces after the first stand in
// the vocabulary as "##piece". If no piece fits the rest, the whole word is unknown.
void WordPiece::AppendWord(const Word& word, std::vector<int64_t>* ids) const {
  const size_t ids_before = ids->size();
  size_t start = 0;
  while (start < word.size() && word.size() <= kMaxWordCharacters) {
    size_t end = word.size();
    auto found = ids_.end();
    for (; end > start && found == ids_.end(); --end) {
      std::string piece = start > 0 ? "##" : "";
      for (size_t i = start; i < end; ++i) AppendUtf8(word[i], &piece);
      found = ids_.find(piece);
    }
    if (found == ids_.end()) break;
    ids->push_back(found->second);
    start = end + 1;
  }
  if (start == word.size()) return;
  ids->resize(ids_before);
  ids->push_back(unk_id_);
}

}  // namespace mpsd::cli
