// tokenizer_report: what `inspect` tells people of a folder's tokenizer. Pure functions, all
// thread-safe.
//
// They read the line of `inspect --json`, whose "tokenizer" has the keys of TokenizerFacts()
// (server/texts), and is null for a folder without one. Both are empty for a line without that key,
// which is one of another model file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mpsd::cli {

// Lines that say its kind and pieces, which of its ids the model does not know, what stands around
// a text, what becomes of a long text, and how many prompts there are; or that there is none, or
// why it is refused.
std::string TokenizerText(const nlohmann::ordered_json& description);

// A blank line and a table of the first 16 prompts, with the beginnings of long ones; empty where
// there is none.
std::string PromptsText(const nlohmann::ordered_json& description);

}  // namespace mpsd::cli
