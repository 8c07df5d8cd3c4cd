// Table: rows of text as people read them, in columns that line up.
#pragma once

#include <string>
#include <vector>

namespace mpsd::cli {

// Thread-compatible. Widths are counted in characters, not bytes.
class Table {
 public:
  enum class Align { kLeft, kRight };

  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns);

  // REQUIRES: as many cells as there are columns.
  void AddRow(std::vector<std::string> cells);

  // The titles and the rows, two spaces between the columns, none at a line's end.
  std::string Text() const;

 private:
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace mpsd::cli
