#include "client/format/table.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/utf8.h"
#include "text/unicode/utf8.h"

namespace mpsd::cli {
namespace {

size_t Width(const std::string& text) {
  std::string storage;
  return text::CharacterCount(text::ValidUtf8(text, &storage));
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  AddRow(std::move(titles));
}

void Table::AddRow(std::vector<std::string> cells) {
  MPSD_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::Text(bool colours) const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    const bool is_title = &row == &rows_.front();
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string fill(widths[i] - Width(row[i]), ' ');
      const bool has_colour = !is_title && columns_[i].colour != nullptr;
      const Colour colour = has_colour ? columns_[i].colour(row[i]) : Colour::kNone;
      const std::string cell = Coloured(row[i], colour, colours);
      if (i > 0) line += "  ";
      line += columns_[i].align == Align::kRight ? fill + cell : cell + fill;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

Colour ColourOfState(absl::string_view state) {
  const std::string word = absl::AsciiStrToLower(state.substr(0, state.find_first_of(" ,:")));
  if (word == "ready" || word == "serving") return Colour::kGreen;
  if (word == "unavailable" || word == "failed" || word == "refused") return Colour::kRed;
  return word == "-" ? Colour::kNone : Colour::kYellow;
}

std::string ShortCell(absl::string_view text, size_t most_bytes) {
  const bool is_short = text.size() <= most_bytes;
  std::string cell =
      is_short ? std::string(text) : absl::StrCat(CutAtCharacter(text, most_bytes), "…");
  std::replace_if(cell.begin(), cell.end(), absl::ascii_iscntrl, ' ');
  return cell;
}

}  // namespace mpsd::cli
