// Table: rows of text in aligned columns, for people. Programs read --json instead.
//
//   Table table({{"MODEL"}, {"LANES", kRight}});
//   table.AddRow({"mlp", "4"});
//   out << table.Text();              MODEL  LANES
//                                     mlp        4
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/base/colour.h"

namespace mpsd::cli {

// A column is as wide as its widest cell, in characters; a terminal's double-width characters break
// columns. Cells must hold no line breaks. Thread-compatible.
class Table {
 public:
  enum class Align { kLeft, kRight };

  struct Column {
    std::string title;
    Align align = Align::kLeft;
    Colour (*colour)(absl::string_view cell) = nullptr;  // null: no cell has one
  };

  explicit Table(std::vector<Column> columns);

  // REQUIRES: as many cells as columns.
  void AddRow(std::vector<std::string> cells);

  // Two spaces between columns, none at the end of a line. `colours`: cells have their columns'.
  std::string Text(bool colours = false) const;

 private:
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // the first holds the titles
};

// Keeps at most `most_bytes`, cut between characters. A space replaces each control character.
// Pure, thread-safe.
std::string ShortCell(absl::string_view text, size_t most_bytes = 40);

// Green serves, red does not, yellow is between the two. Pure.
Colour ColourOfState(absl::string_view state);

// Columns of numbers use it.
inline constexpr Table::Align kRight = Table::Align::kRight;

}  // namespace mpsd::cli
