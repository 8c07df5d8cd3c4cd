// TextPolicy: how a model's texts become rows of tokens, as its config says.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/link/enum_names.h"

namespace mpsd {

// What happens to a text that has more tokens than a row may have. The names, here and below, are
// those of the config, in the order of the enumerators.
enum class LongInput : uint8_t {
  kTruncate,  // the rest is cut, and counted
  kError,     // the request is INVALID_ARGUMENT, and told both lengths
};
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<LongInput> = {"truncate", "error"};

// Which end of a text is cut. Of a pair both texts are cut at that end, the longer one first.
enum class TextSide : uint8_t { kRight, kLeft };
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<TextSide> = {"right", "left"};

inline constexpr uint32_t kMostConfiguredTokens = 65536;  // that max_tokens may say

// `models[].text` of the config, read by server/config and obeyed by TextEncoder (server/texts). A
// value, constant in a generation: a reload that finds another policy, or a changed file, makes a
// new generation. Equal policies over an unchanged file make equal tokens.
//
//   key          values                          without it
//   tokenizer    a path                          the tokenizer in the folder of the model, if any
//   max_tokens   1 to kMostConfiguredTokens      as many as the model takes
//   long_input   the names of LongInput          "truncate"
//   side         the names of TextSide           "right"
struct TextPolicy {
  std::string tokenizer;  // path of a tokenizer.json or a vocab.txt; empty: it takes no texts
  // Of a row, with the special ones; 0: as many as the model takes. Where the special ones alone
  // are more, every text is refused.
  uint32_t max_tokens = 0;
  LongInput long_input = LongInput::kTruncate;
  TextSide cut_side = TextSide::kRight;

  bool operator==(const TextPolicy&) const = default;
};

// The rows of a call of several requests that have not asked the queue for a place yet. `work` is
// about how many bytes the model reads of these rows. Thread-safe.
struct CallRows {
  std::atomic<int64_t> rows{0};
  std::atomic<int64_t> work{0};
};

// A client's own settings for its texts, in place of the policy's. A client may not lift
// `max_tokens`. Read from the bodies of the text routes (server/embedders); the
// requests of the Open Inference Protocol have the name of a prompt alone, as a parameter
// (server/wire). A value.
struct TextWishes {
  std::optional<LongInput> long_input;
  std::optional<TextSide> cut_side;
  std::optional<std::string> prompt_name;  // of those in the model's folder; none: the default
  size_t first_place = 0;  // of the request's first text among those of its call, for refusals
  // The tokens of all requests of the call, where they have one bound together: each adds its own,
  // on any thread. Lives as long as they do. Null: the request is the whole call.
  std::atomic<uint64_t>* call_tokens = nullptr;
  // The rows of the call that have not asked the queue yet. Each request of the call takes its own
  // rows off, and `own_work` of the work. Null: the request is the whole call.
  CallRows* call_rows = nullptr;
  uint64_t own_work = 0;
};

}  // namespace mpsd
