// Table: rows of text in aligned columns, for people.
#pragma once

#include <string>
#include <vector>

namespace mpsd::cli {

// Widths are counted in characters, not bytes. Owned by the verb that prints it. Thread-compatible.
class Table {
 public:
  enum class Align { kLeft, kRight };

  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns);

  // REQUIRES: there are as many cells as columns.
  void AddRow(std::vector<std::string> cells);

  // The titles and the rows, with two spaces between columns, and none at the end of a line.
  std::string Text() const;

 private:
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Numbers stand to the right.
inline constexpr Table::Align kRight = Table::Align::kRight;

}  // namespace mpsd::cli
