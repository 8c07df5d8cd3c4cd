// Files beside a tokenizer that change its model's tokens.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace mpsd {

// In the folder of `models[].text.tokenizer`. Read by server/texts, stamped by server/config: a
// reload finds a change of any.
inline constexpr std::array<std::string_view, 7> kTokenizerSettings = {
    "tokenizer.json",
    "tokenizer_config.json",
    "added_tokens.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "config.json"};

// Pure.
constexpr bool IsTokenizerSetting(std::string_view name) {
  return std::find(kTokenizerSettings.begin(), kTokenizerSettings.end(), name) !=
         kTokenizerSettings.end();
}

}  // namespace mpsd
