// Frame: the special tokens around the tokens of a text or a pair.
//
//   [CLS] A [SEP]           of one text
//   [CLS] A [SEP] B [SEP]   of a pair; B and what follows have the type 1
//   <s> A </s> </s> B </s>  of a pair for RoBERTa, all of the type 0
//
// A tokenizer.json calls it a post-processor. The texts are cut before, so the frame never is, and
// a row without room for it is refused (INVALID_ARGUMENT).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mpsd::text {

// Ids are left out if the caller wants no special tokens. A value.
struct FramePart {
  enum class Kind { kId, kFirst, kSecond };
  Kind kind = Kind::kId;
  int32_t id = 0;       // for kId
  uint8_t type_id = 0;  // type of the id, or of each token of the text

  bool operator==(const FramePart&) const = default;
};

// ReadFrame() checks that `single` has kFirst once and no kSecond, `pair` each once, and that there
// are few parts. The model that takes the row must refuse unknown ids. A value.
struct Frame {
  std::vector<FramePart> single = {{FramePart::Kind::kFirst, 0, 0}};
  std::vector<FramePart> pair = {{FramePart::Kind::kFirst, 0, 0}, {FramePart::Kind::kSecond, 0, 1}};

  bool operator==(const Frame&) const = default;
};

// The second text and the tokens behind it have the type 1.
inline Frame BertFrame(int32_t cls, int32_t sep) {
  using Kind = FramePart::Kind;
  const std::vector<FramePart> single = {
      {Kind::kId, cls, 0}, {Kind::kFirst, 0, 0}, {Kind::kId, sep, 0}};
  std::vector<FramePart> pair = single;
  pair.push_back({Kind::kSecond, 0, 1});
  pair.push_back({Kind::kId, sep, 1});
  return {single, pair};
}

// A row has so much less room for texts.
inline size_t AddedCount(const std::vector<FramePart>& parts) {
  size_t count = 0;
  for (const FramePart& part : parts) count += part.kind == FramePart::Kind::kId ? 1 : 0;
  return count;
}

}  // namespace mpsd::text
