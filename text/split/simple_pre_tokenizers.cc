#include "text/split/simple_pre_tokenizers.h"

#include "absl/strings/match.h"
#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {

bool PreTokenizerSequence::Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const {
  Pieces current = whole;
  for (const std::unique_ptr<PreTokenizer>& step : steps_) {
    cut->bytes.clear();
    cut->spans.clear();
    if (!step->Cut(current, most_bytes, cut)) return false;
    std::swap(current, *cut);
  }
  *cut = std::move(current);
  return cut->bytes.size() <= most_bytes;
}

bool WhitespaceSplit::Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const {
  cut->bytes = whole.bytes;
  const char* const bytes = cut->bytes.data();
  for (const Pieces::Span& span : whole.spans) {
    size_t begin = span.begin;
    for (size_t at = span.begin; at < span.end;) {
      const char* next = bytes + at;
      const bool is_space = (Traits(TakeCharacter(&next)) & kSpace) != 0;
      const auto end = static_cast<size_t>(next - bytes);
      if (is_space) {
        cut->Add(begin, at);
        begin = end;
      }
      at = end;
    }
    cut->Add(begin, span.end);
  }
  return cut->bytes.size() <= most_bytes;
}

bool SplitBehind::Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const {
  cut->bytes = whole.bytes;
  for (size_t i = 0; i < whole.spans.size(); ++i) {
    const absl::string_view piece = whole.Piece(i);
    const size_t offset = whole.spans[i].begin;
    size_t begin = 0;
    for (size_t at = piece.find(text_); at != absl::string_view::npos;
         at = piece.find(text_, begin)) {
      cut->Add(offset + begin, offset + at + text_.size());
      begin = at + text_.size();
    }
    cut->Add(offset + begin, offset + piece.size());
  }
  return cut->bytes.size() <= most_bytes;
}

bool Metaspace::Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const {
  for (size_t i = 0; i < whole.spans.size(); ++i) {
    const absl::string_view piece = whole.Piece(i);
    size_t begin = cut->bytes.size();
    const bool has_sign = piece[0] == ' ' || absl::StartsWith(piece, sign_);
    if (prepends_ && !has_sign) cut->bytes.append(sign_);
    for (size_t at = 0; at < piece.size();) {
      const bool is_space = piece[at] == ' ';
      if (cuts_ && (is_space || absl::StartsWith(piece.substr(at), sign_))) {
        cut->Add(begin, cut->bytes.size());
        begin = cut->bytes.size();
      }
      if (is_space) {
        cut->bytes.append(sign_);
        ++at;
      } else {
        const size_t size = CharacterSize(piece[at]);
        cut->bytes.append(piece.data() + at, size);
        at += size;
      }
    }
    cut->Add(begin, cut->bytes.size());
  }
  return cut->bytes.size() <= most_bytes;
}

}  // namespace mpsd::text
