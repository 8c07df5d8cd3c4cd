// The files beside a tokenizer that have a say in how its model's texts become tokens.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace mpsd {

// In the folder of the file that `models[].text.tokenizer` names, which may be one of them.
// server/texts reads these and no other, server/config stamps them: a reload finds a change of any.
inline constexpr std::array<std::string_view, 5> kTokenizerSettings = {
    "tokenizer.json", "tokenizer_config.json", "sentence_bert_config.json",
    "config_sentence_transformers.json", "modules.json"};

// Pure.
constexpr bool IsTokenizerSetting(std::string_view name) {
  return std::find(kTokenizerSettings.begin(), kTokenizerSettings.end(), name) !=
         kTokenizerSettings.end();
}

}  // namespace mpsd
