#include "worker/model/torchscript/kept_answers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

// Equal only for equal inputs: each part gives its length before its bytes.
std::string KeyOf(absl::Span<const InputTensor> inputs) {
  std::string key;
  for (const InputTensor& input : inputs) {
    absl::StrAppend(&key, static_cast<int>(input.datatype), ShapeText(input.dims), input.bytes,
                    ":");
    if (input.bytes > 0) key.append(static_cast<const char*>(input.data), input.bytes);
  }
  return key;
}

}  // namespace

const std::vector<c10::IValue>* KeptAnswers::Find(absl::Span<const InputTensor> inputs) {
  const std::string key = KeyOf(inputs);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&key](const Entry& entry) { return entry.inputs == key; });
  if (found == entries_.end()) return nullptr;
  std::rotate(entries_.begin(), found, found + 1);
  return &entries_.front().answers;
}

const std::vector<c10::IValue>& KeptAnswers::Keep(absl::Span<const InputTensor> inputs,
                                                  std::vector<c10::IValue> answers) {
  if (entries_.size() == kMost) entries_.pop_back();
  entries_.push_front({KeyOf(inputs), std::move(answers)});
  return entries_.front().answers;
}

}  // namespace mpsd
