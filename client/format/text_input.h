// text_input: the texts that `embed`, `rerank` and `tokenize` send, and how many fit a request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd::cli {

// Bounds a file of texts.
inline constexpr uint64_t kMaxTextsBytes = 256 << 20;

// Each line is a text, also an empty one. A line ends with "\n" or "\r\n", or with the file. Pure,
// thread-safe.
std::vector<std::string> SplitLines(absl::string_view content);

// `words`, and then the lines of `file`, which has at most kMaxTextsBytes; "-" is stdin, and "" is
// no file. Returns the errors of ReadWholeFile(), and INVALID_ARGUMENT for a text or a line that is
// not in UTF-8, named by its number. Blocks while reading. Thread-safe.
absl::StatusOr<std::vector<std::string>> ReadTexts(const std::vector<std::string>& words,
                                                   const std::string& file);

// How many of the first `texts` go into one request: at most kMostRequestRows and `most_bytes`,
// with `shared_bytes` for each. At least 1: the server judges a single text. REQUIRES: there are
// texts. Pure, thread-safe.
size_t RequestRows(absl::Span<const std::string> texts, size_t shared_bytes, size_t most_bytes);

// A server takes 64 batches of a request, and some models have batches of one.
inline constexpr size_t kMostRequestRows = 64;

}  // namespace mpsd::cli
