// tokenizer_report: the report of `inspect` about a folder's tokenizer. Pure functions, all
// thread-safe.
//
// They read the line of `inspect --json`, whose "tokenizer" has the keys of TokenizerFacts()
// (server/texts), or is null for a folder without one. Both are empty for a line without that key,
// from another kind of model file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mpsd::cli {

// Lines with its kind and pieces, the ids that the model does not know, the tokens around a text,
// the fate of a long text, and the number of prompts. Or a line that there is none, or why it is
// refused.
std::string TokenizerText(const nlohmann::ordered_json& description);

// A blank line and a table of the first 16 prompts, long ones shortened; empty without prompts.
std::string PromptsText(const nlohmann::ordered_json& description);

}  // namespace mpsd::cli
