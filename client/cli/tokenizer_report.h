// tokenizer_report: the report of `inspect` about a folder's tokenizer. All pure and thread-safe.
//
// "tokenizer" in the line of `inspect --json` has the keys of TokenizerFacts() (server/texts), or
// is null for a folder without one. Without the key both texts are empty.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mpsd::cli {

// Kind, pieces, ids that the model does not know, tokens around a text, the fate of a long text,
// the number of prompts. Or why it is missing or refused.
std::string TokenizerText(const nlohmann::ordered_json& description);

// A blank line and the first 16 prompts, shortened; empty without prompts.
std::string PromptsText(const nlohmann::ordered_json& description);

}  // namespace mpsd::cli
