// text_input: the texts that `embed`, `rerank` and `tokenize` send, and how many fit one request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd::cli {

// The largest file of texts.
inline constexpr uint64_t kMaxTextsBytes = 256 << 20;

// The lines of a file. Each line is a text, also an empty one, so the answer's rows match the
// file's lines. A line ends with "\n" or "\r\n"; the last one may end with the file. Pure,
// thread-safe.
std::vector<std::string> SplitLines(absl::string_view content);

// `words`, and then the lines of `file`, which has at most kMaxTextsBytes; "-" is stdin, and "" is
// no file. Returns the errors of ReadWholeFile(), and INVALID_ARGUMENT for a text or a line that is
// not in UTF-8, named by its number. Blocks while reading. Thread-safe.
absl::StatusOr<std::vector<std::string>> ReadTexts(const std::vector<std::string>& words,
                                                   const std::string& file);

// How many of `texts`, from the first on, go into one request: at most kMostRequestRows, and at
// most `most_bytes` together. Each text counts `shared_bytes` more. The result is at least 1: the
// server decides whether a single text is too large. REQUIRES: there are texts. Pure, thread-safe.
size_t RequestRows(absl::Span<const std::string> texts, size_t shared_bytes, size_t most_bytes);

// A server takes 64 batches of a model in a request, and some models have batches of one.
inline constexpr size_t kMostRequestRows = 64;

}  // namespace mpsd::cli
