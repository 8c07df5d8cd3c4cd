#include "client/format/text_input.h"

#include <algorithm>
#include <utility>

#include "absl/strings/strip.h"
#include "proto/base/check.h"
#include "proto/files/whole_file.h"

namespace mpsd::cli {

std::vector<std::string> SplitLines(absl::string_view content) {
  std::vector<std::string> lines;
  while (!content.empty()) {
    const size_t end = std::min(content.find('\n'), content.size());
    lines.emplace_back(absl::StripSuffix(content.substr(0, end), "\r"));
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return lines;
}

absl::StatusOr<std::vector<std::string>> ReadTexts(const std::vector<std::string>& words,
                                                   const std::string& file) {
  std::vector<std::string> texts = words;
  if (file.empty()) return texts;
  const auto content = ReadWholeFile(file == "-" ? "/dev/stdin" : file, kMaxTextsBytes);
  if (!content.ok()) return content.status();
  for (std::string& line : SplitLines(*content)) texts.push_back(std::move(line));
  return texts;
}

size_t RequestRows(absl::Span<const std::string> texts, size_t shared_bytes, size_t most_bytes) {
  MPSD_CHECK(!texts.empty());
  const size_t most_rows = std::min(texts.size(), kMostRequestRows);
  size_t rows = 1;
  size_t bytes = texts[0].size() + shared_bytes;
  while (rows < most_rows) {
    bytes += texts[rows].size() + shared_bytes;
    if (bytes > most_bytes) break;
    ++rows;
  }
  return rows;
}

}  // namespace mpsd::cli
