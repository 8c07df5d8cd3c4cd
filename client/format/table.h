// Table: rows of text in aligned columns, for people.
//
//   Table table({{"MODEL"}, {"LANES", kRight}});
//   table.AddRow({"mlp", "4"});
//   out << table.Text();              MODEL  LANES
//                                     mlp        4
//
// All verbs make their tables here, so that they look alike. Programs read --json instead.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/base/colour.h"

namespace mpsd::cli {

// Collects rows and lays them out when asked for the text. A column is as wide as its widest cell.
// Widths count characters, not bytes; characters that a terminal draws twice as wide break the
// columns. Cells are printed unchanged, so they must hold no line breaks.
//
// Owned by the verb that prints it. Thread-compatible.
class Table {
 public:
  enum class Align { kLeft, kRight };

  struct Column {
    std::string title;
    Align align = Align::kLeft;
    Colour (*colour)(absl::string_view cell) = nullptr;  // null: no cell has one
  };

  explicit Table(std::vector<Column> columns);

  // Adds a row below the others. REQUIRES: there are as many cells as columns.
  void AddRow(std::vector<std::string> cells);

  // The titles and the rows, with two spaces between columns, and none at the end of a line. Cells
  // have their columns' colours if `colours`.
  std::string Text(bool colours = false) const;

 private:
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // the first holds the titles
};

// A text for a cell: at most `most_bytes` of it, cut between characters. A space replaces each
// control character, so that the text is on one line. Pure, thread-safe.
std::string ShortCell(absl::string_view text, size_t most_bytes = 40);

// For a column of states: green serves, red does not, yellow is between the two. Pure.
Colour ColourOfState(absl::string_view state);

// For columns of numbers.
inline constexpr Table::Align kRight = Table::Align::kRight;

}  // namespace mpsd::cli
