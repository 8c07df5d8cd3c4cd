// Frame: the special tokens around the tokens of a text or a pair.
//
//   [CLS] A [SEP]           of one text
//   [CLS] A [SEP] B [SEP]   of a pair; B and what follows have the type 1
//   <s> A </s> </s> B </s>  of a pair for RoBERTa, all of the type 0
//
// A tokenizer.json calls it a post-processor: ReadFrame() reads that, BertFrame() is for a
// vocab.txt. The Tokenizer adds the frame last, after it has cut the texts. So the frame is never
// cut, and a row without room for it is refused (INVALID_ARGUMENT).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mpsd::text {

// A place in a frame. A frame for one text has kFirst once, one for a pair kFirst and kSecond once
// each. All other places are ids, which a tokenizer leaves out if its caller wants no special
// tokens. A value.
struct FramePart {
  enum class Kind { kId, kFirst, kSecond };
  Kind kind = Kind::kId;
  int32_t id = 0;       // for kId
  uint8_t type_id = 0;  // type of the id, or of each token of the text
};

// A value, constant in a Tokenizer. By default it adds nothing, and the second text has the type 1.
// ReadFrame() checks what a tokenizer relies on:
//
// 1. `single` has kFirst once and no kSecond; `pair` has each of them once.
// 2. The places are few, however large the file is.
//
// Nothing here checks that the vocabulary has an id: the model that takes the row must refuse
// unknown ones.
struct Frame {
  std::vector<FramePart> single = {{FramePart::Kind::kFirst, 0, 0}};
  std::vector<FramePart> pair = {{FramePart::Kind::kFirst, 0, 0}, {FramePart::Kind::kSecond, 0, 1}};
};

// BERT's frame: the second text and what follows have the type 1. The ids are those of [CLS] and
// [SEP] in the vocabulary.
inline Frame BertFrame(int32_t cls, int32_t sep) {
  using Kind = FramePart::Kind;
  const std::vector<FramePart> single = {
      {Kind::kId, cls, 0}, {Kind::kFirst, 0, 0}, {Kind::kId, sep, 0}};
  std::vector<FramePart> pair = single;
  pair.push_back({Kind::kSecond, 0, 1});
  pair.push_back({Kind::kId, sep, 1});
  return {single, pair};
}

// Number of the frame's own tokens, by which a row has less room for texts.
inline size_t AddedCount(const std::vector<FramePart>& parts) {
  size_t count = 0;
  for (const FramePart& part : parts) count += part.kind == FramePart::Kind::kId ? 1 : 0;
  return count;
}

}  // namespace mpsd::text
