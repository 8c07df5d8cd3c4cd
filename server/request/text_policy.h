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

// The fate of a text with more tokens than a row may have. The names, here and below, are the
// config's, in the order of the enumerators.
enum class LongInput : uint8_t {
  kTruncate,  // the rest is cut, and counted
  kError,     // INVALID_ARGUMENT, with both lengths
};
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<LongInput> = {"truncate", "error"};

// The end at which a text is cut. In a pair both texts are cut at that end, the longer one first.
enum class TextSide : uint8_t { kRight, kLeft };
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<TextSide> = {"right", "left"};

inline constexpr uint32_t kMostConfiguredTokens = 65536;  // limit of max_tokens

// `models[].text` of the config, read by server/config and obeyed by TextEncoder (server/texts). A
// value, constant in a generation: a reload with another policy, or a changed file, makes a new
// generation. Equal policies with an unchanged file make equal tokens.
//
//   key          values                          without it
//   tokenizer    a path                          the tokenizer in the folder of the model, if any
//   max_tokens   1 to kMostConfiguredTokens      as many as the model takes
//   long_input   the names of LongInput          "truncate"
//   side         the names of TextSide           "right"
struct TextPolicy {
  std::string tokenizer;  // path of a tokenizer.json or a vocab.txt; empty: no texts
  // Limit of a row with special tokens; 0: the model's. If special tokens alone exceed it, every
  // text is refused.
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

// A client's own settings for its texts, instead of the policy's. A client may not lift
// `max_tokens`. Read from the bodies of the text routes (server/bodies/text_routes). A request of
// the Open Inference Protocol only has a prompt's name, as a parameter (server/bodies/grpc). A
// value.
struct TextWishes {
  std::optional<LongInput> long_input;
  std::optional<TextSide> cut_side;
  std::optional<std::string> prompt_name;  // prompt in the model's folder; none: the default
  size_t first_place = 0;  // place of the request's first text in its call, for refusals
  // Tokens of all requests of the call, if they share one bound: each adds its own, on any thread.
  // Lives as long as they do. Null: the request is the whole call.
  std::atomic<uint64_t>* call_tokens = nullptr;
  // The rows of the call that have not asked the queue yet. Each request of the call takes its own
  // rows off, and `own_work` of the work. Null: the request is the whole call.
  CallRows* call_rows = nullptr;
  uint64_t own_work = 0;
};

}  // namespace mpsd
