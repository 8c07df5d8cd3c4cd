// MakeStep, ReadSteps: make tokenizer parts of one step or a sequence.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "text/tokenizer/fields.h"

namespace mpsd::text {

// A step names its kind in "type"; a sequence has a list of further steps:
//
//   MadePreTokenizer ReadPreTokenizerStep(const Json& json, size_t* steps_left) {
//     Fields fields(json, "pre_tokenizer");
//     const std::string type = fields.Text("type", "");
//     if (type == "Sequence") {
//       return ReadSteps<PreTokenizer, PreTokenizerSequence>(std::move(fields), "pretokenizers",
//                                                            ReadPreTokenizerStep, steps_left);
//     } …
//
// INVALID_ARGUMENT names the first wrong or unknown key or kind. All are thread-safe.

// A part has at most so many steps, with all its sequences. ParseJson() bounds their depth, and
// with it the stack.
inline constexpr size_t kMaxSteps = 32;
// Bounds a text that a step looks for, or puts into texts.
inline constexpr size_t kMaxLiteralBytes = 256;

inline std::string Literal(const char* key, Fields* fields) {
  std::string text = fields->Text(key, "");
  if (text.size() > kMaxLiteralBytes) {
    fields->Complain(absl::StrCat("'", key, "' has more than ", kMaxLiteralBytes, " bytes"));
  }
  return text;
}

// Makes a `Kind`, or returns the complaint. REQUIRES: all fields of the kind have been read.
template <class Step, class Kind, class... Arguments>
absl::StatusOr<std::unique_ptr<Step>> MakeStep(Fields* fields, Arguments&&... arguments) {
  const absl::Status status = fields->Finish();
  if (!status.ok()) return status;
  return std::make_unique<Kind>(std::forward<Arguments>(arguments)...);
}

// Reads each step in the array `key`, and counts it in `steps_left`.
template <class Step, class Sequence>
absl::StatusOr<std::unique_ptr<Step>> ReadSteps(
    Fields fields, const std::string& key,
    absl::StatusOr<std::unique_ptr<Step>> (*read)(const Json& json, size_t* steps_left),
    size_t* steps_left) {
  const Json* list = fields.Need(key.c_str());
  if (list != nullptr && (!list->is_array() || list->size() > *steps_left)) {
    fields.Complain(absl::StrCat("'", key, "' must be a short array"));
  }
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  *steps_left -= list->size();
  std::vector<std::unique_ptr<Step>> steps;
  for (const Json& one : *list) {
    absl::StatusOr<std::unique_ptr<Step>> step = read(one, steps_left);
    if (!step.ok()) return step;
    steps.push_back(*std::move(step));
  }
  return std::make_unique<Sequence>(std::move(steps));
}

}  // namespace mpsd::text
