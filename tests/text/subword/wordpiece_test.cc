#include "text/subword/wordpiece.h"

#include <gtest/gtest.h>

namespace mpsd::text {
namespace {

std::vector<int32_t> IdsOf(size_t most_characters, absl::string_view text) {
  WordPieceOptions options;
  options.max_input_chars_per_word = most_characters;
  const auto model = WordPiece::Make(options, {{"[UNK]", 0}, {"\u00e9", 1}, {"##\u00e9", 2}});
  Pieces pieces;
  pieces.bytes = std::string(text);
  pieces.Add(0, text.size());
  std::vector<int32_t> ids;
  model->Append(pieces, &ids);
  return ids;
}

TEST(WordPiece, CountsTheCharactersOfAPieceAndNotItsBytes) {
  EXPECT_EQ(IdsOf(2, "\u00e9\u00e9"), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(IdsOf(1, "\u00e9\u00e9"), (std::vector<int32_t>{0}));
}

}  // namespace
}  // namespace mpsd::text
