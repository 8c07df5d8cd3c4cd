// TextPolicy: how a model's texts become rows of tokens, by its config.
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

// A text with more tokens than a row may have. Names here and below are the config's.
enum class LongInput : uint8_t {
  kTruncate,  // cut, and counted
  kError,     // INVALID_ARGUMENT, with both lengths
};
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<LongInput> = {"truncate", "error"};

// The end at which texts are cut. In a pair the longer text is cut first.
enum class TextSide : uint8_t { kRight, kLeft };
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<TextSide> = {"right", "left"};

inline constexpr uint32_t kMostConfiguredTokens = 65536;

// `models[].text`, read by server/config and obeyed by TextEncoder (server/texts). A changed policy
// or tokenizer's file makes a new generation. A value, constant in a generation.
//
//   key          values                          without it
//   tokenizer    a path                          the tokenizer in the folder of the model, if any
//   max_tokens   1 to kMostConfiguredTokens      as many as the model takes
//   long_input   the names of LongInput          "truncate"
//   side         the names of TextSide           as the tokenizer's folder says
struct TextPolicy {
  std::string tokenizer;  // a tokenizer.json or a vocab.txt; empty: no texts
  // With special tokens; 0: the model's. If these alone exceed it, every text is refused.
  uint32_t max_tokens = 0;
  LongInput long_input = LongInput::kTruncate;
  std::optional<TextSide> cut_side;

  bool operator==(const TextPolicy&) const = default;
};

// Rows of a call of several requests that have not asked the queue yet. `work`: about how many
// bytes the model reads of them. Thread-safe.
struct CallRows {
  std::atomic<int64_t> rows{0};
  std::atomic<int64_t> work{0};
};

// A client's settings in place of the policy's; `max_tokens` is none of them. A request of the Open
// Inference Protocol has only a prompt's name. A value.
struct TextWishes {
  std::optional<LongInput> long_input;
  std::optional<TextSide> cut_side;
  std::optional<std::string> prompt_name;  // in the model's folder; none: the default
  size_t first_place = 0;  // place of the request's first text in its call, for refusals
  // Tokens of the whole call if its requests share one bound: each adds its own, on any thread.
  // Null: the request is the whole call.
  std::atomic<uint64_t>* call_tokens = nullptr;
  // Each request takes its own rows and `own_work` off. Null: the request is the whole call.
  CallRows* call_rows = nullptr;
  uint64_t own_work = 0;
};

}  // namespace mpsd
