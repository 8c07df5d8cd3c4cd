// text_input: the texts that `embed`, `rerank` and `tokenize` send, and how many go in one request.
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

// The lines of a file: each is a text, also an empty one, so that the answer's rows are the file's
// lines. A line ends with "\n" or "\r\n", the last one also with the file. Pure, thread-safe.
std::vector<std::string> SplitLines(absl::string_view content);

// `words`, and then the lines of `file`, of at most kMaxTextsBytes; "-" is stdin, and empty is no
// file. Errors are those of ReadWholeFile(). Blocks for the reading. Thread-safe.
absl::StatusOr<std::vector<std::string>> ReadTexts(const std::vector<std::string>& words,
                                                   const std::string& file);

// How many of `texts`, from the first on, one request takes: at most kMostRequestRows, and no more
// than have `most_bytes` together, where each counts `shared_bytes` besides. One at least: whether
// a single text is too large is for the server to say. REQUIRES: there are texts. Pure,
// thread-safe.
size_t RequestRows(absl::Span<const std::string> texts, size_t shared_bytes, size_t most_bytes);

// A server takes 64 batches of a model in a request, and some models have batches of one.
inline constexpr size_t kMostRequestRows = 64;

}  // namespace mpsd::cli
