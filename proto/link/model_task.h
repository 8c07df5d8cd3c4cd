// ModelTask: what a model makes of texts, so that clients can ask for it by name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proto/link/enum_names.h"

namespace mpsd {

// `task` of a model in the config, or of its file. The text routes (server/embedders) answer for
// models that have one; every other way in takes any model.
enum class ModelTask : uint8_t {
  kAuto,       // as the model's outputs tell
  kEmbedding,  // a vector of each text
  kRerank,     // a score of each pair of texts
  kClassify,   // a score of each class, of a text or a pair
};
template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<ModelTask> = {"auto", "embedding",
                                                                        "rerank", "classify"};

}  // namespace mpsd
