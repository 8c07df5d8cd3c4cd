#include "worker/model/torchscript/kept_answers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

// Each part gives its length before its bytes, so only equal inputs have equal keys.
std::string KeyOf(absl::Span<const InputTensor> inputs) {
  std::string key;
  for (const InputTensor& input : inputs) {
    absl::StrAppend(&key, static_cast<int>(input.datatype), ShapeText(input.dims), input.bytes,
                    ":");
    if (input.bytes > 0) key.append(static_cast<const char*>(input.data), input.bytes);
  }
  return key;
}

// With its objects, tensors and strings.
size_t BytesOf(const c10::IValue& value) {
  size_t bytes = sizeof(c10::IValue);
  if (value.isTensor()) {
    bytes += value.toTensor().defined() ? value.toTensor().nbytes() : 0;
  } else if (value.isString()) {
    bytes += value.toStringRef().size();
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) bytes += BytesOf(element);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) bytes += BytesOf(element);
  } else if (value.isGenericDict()) {
    for (const auto& member : value.toGenericDict()) {
      bytes += BytesOf(member.key()) + BytesOf(member.value());
    }
  }
  return bytes;
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
  Entry entry{KeyOf(inputs), std::move(answers)};
  entry.bytes = sizeof(Entry) + entry.inputs.size();
  for (const c10::IValue& answer : entry.answers) entry.bytes += BytesOf(answer);
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  while (bytes_ > kMostBytes && entries_.size() > 1) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  return entries_.front().answers;
}

void KeptAnswers::DropLatest() {
  bytes_ -= entries_.front().bytes;
  entries_.pop_front();
}

}  // namespace mpsd
