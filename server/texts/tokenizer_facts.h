// TokenizerFacts: a tokenizer, for people who inspect a model.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mpsd {

// The tokenizer at `path` as the daemon would use it without a config. Programs read this, so the
// keys stay.
//
//   file                   the path
//   refused                why TextEncoder::Load() refuses it; then there is no other key
//   kind                   "WordPiece", "Unigram" or "BPE"
//   pieces                 how many tokens there are, added ones included
//   id_bound               the ids of all tokens are below
//   special_tokens         [{"token", "id"}]: those that are put around texts
//   text_row, pair_row     how they stand around a text, "[CLS] A [SEP]", and around a pair
//   long_input, cut_side   what becomes of a text that is too long, and which end of it is cut
//   unheeded_length        to how many tokens the file itself cuts, which is not heeded, or null
//   prompts                {"name": "text"}
//   default_prompt         the name of the one for requests that name none, or null
//
// Blocks for the reading, some seconds for a large file. Thread-safe.
nlohmann::ordered_json TokenizerFacts(const std::string& path);

}  // namespace mpsd
