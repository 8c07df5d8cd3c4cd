#include "worker/model/foreign_errors.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/utf8.h"

namespace mpsd {
namespace {

constexpr size_t kMaxBytes = 400;
constexpr absl::string_view kInterpreter = "The following operation failed in the TorchScript";
constexpr absl::string_view kArrow = "<--- HERE";

absl::string_view FirstLine(absl::string_view text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view stripped = absl::StripAsciiWhitespace(line);
    if (!stripped.empty()) return stripped;
  }
  return "";
}

// After the arrow the source may continue, indented. The reason begins in the first column.
absl::string_view FirstLineAtMargin(absl::string_view text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!line.empty() && !absl::ascii_isspace(line.front())) return line;
  }
  return "";
}

// At the end of a text stands the name of a Metal command buffer's error.
constexpr absl::string_view kMetalError = "kIOGPUCommandBufferCallbackError";

// "Invalid buffer size" means more than Metal allocates in one piece.
bool IsOutOfMemory(absl::string_view line) {
  constexpr absl::string_view kTexts[] = {
      "can't allocate memory", "out of memory", "std::bad_alloc",
      "Invalid buffer size: ", "kIOGPUCommandBufferCallbackErrorOutOfMemory"};
  return std::any_of(std::begin(kTexts), std::end(kTexts),
                     [line](absl::string_view text) { return absl::StrContains(line, text); });
}

// After one of these errors every further call of the process fails: a CUDA error stays in its
// context, and Metal's driver ignores a process at fault.
bool IsDeviceLost(absl::string_view what) {
  if (absl::StrContains(what, kMetalError)) return true;
  constexpr absl::string_view kTexts[] = {
      "device-side assert",
      "illegal memory access",
      "illegal instruction",
      "misaligned address",
      "unspecified launch failure",
      "uncorrectable ECC",
      "GPU is lost",
      "device is lost",
      "hardware stack error",
      "MPS client terminated",
  };
  if (!absl::StrContains(what, "CUDA") && !absl::StrContains(what, "cuda")) return false;
  return std::any_of(std::begin(kTexts), std::end(kTexts),
                     [what](absl::string_view text) { return absl::StrContains(what, text); });
}

bool EndsWord(char c) {
  return absl::ascii_isspace(c) || c == '\'' || c == '"' || c == ')' || c == ',' || c == '(';
}

// A word that begins with a slash and holds another one looks like an absolute path.
std::string WithoutPaths(absl::string_view line) {
  std::string out;
  size_t at = 0;
  while (at < line.size()) {
    size_t end = at;
    while (end < line.size() && !EndsWord(line[end])) ++end;
    const absl::string_view word = line.substr(at, end - at);
    const bool path = absl::StartsWith(word, "/") && absl::StrContains(word.substr(1), '/');
    absl::StrAppend(&out, path ? "(path)" : word);
    if (end < line.size()) out.push_back(line[end]);
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string MeaningfulLine(absl::string_view what) {
  // The interpreter prints the failing source first, with an arrow, then the reason. Other parts of
  // libtorch begin with the reason.
  const size_t arrow =
      absl::StartsWith(what, kInterpreter) ? what.rfind(kArrow) : absl::string_view::npos;
  if (arrow != absl::string_view::npos) {
    const absl::string_view reason = FirstLineAtMargin(what.substr(arrow + kArrow.size()));
    if (!reason.empty()) what = reason;
  }
  absl::string_view line = FirstLine(what);
  absl::ConsumePrefix(&line, "RuntimeError: ");
  absl::ConsumePrefix(&line, "builtins.");
  if (line.empty()) return "no reason was given";
  return std::string(CutAtCharacter(line, kMaxBytes));
}

absl::Status ExecuteFailure(absl::string_view what) {
  const std::string line = MeaningfulLine(what);
  if (IsOutOfMemory(line)) {
    return absl::ResourceExhaustedError("PyTorch execute failure: out of memory");
  }
  const std::string text = absl::StrCat("PyTorch execute failure: ", WithoutPaths(line));
  return IsDeviceLost(what) ? absl::DataLossError(text) : absl::InternalError(text);
}

}  // namespace mpsd
