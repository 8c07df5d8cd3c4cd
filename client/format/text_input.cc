#include "client/format/text_input.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/check.h"
#include "proto/base/utf8.h"
#include "proto/files/whole_file.h"

namespace mpsd::cli {

namespace {

// JSON has no other texts; bytes of another encoding would become marks without a word.
absl::Status CheckEncoding(const std::string& text, absl::string_view where, size_t number) {
  if (IsUtf8(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      where, number, " is not in UTF-8; iconv turns a file of another encoding into it"));
}

}  // namespace

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
  for (size_t i = 0; i < words.size(); ++i) {
    if (absl::Status status = CheckEncoding(words[i], "text ", i + 1); !status.ok()) return status;
  }
  if (file.empty()) return texts;
  const auto content = ReadWholeFile(file == "-" ? "/dev/stdin" : file, kMaxTextsBytes);
  if (!content.ok()) return content.status();
  for (std::string& line : SplitLines(*content)) {
    const absl::Status status =
        CheckEncoding(line, file + ": line ", texts.size() - words.size() + 1);
    if (!status.ok()) return status;
    texts.push_back(std::move(line));
  }
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
