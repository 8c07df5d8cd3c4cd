// ModelTask: what a model computes from texts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proto/link/enum_names.h"

namespace mpsd {

// Text routes (server/bodies/text_routes) serve only models with a task; other routes take any
// model.
enum class ModelTask : uint8_t {
  kAuto,       // from the model's outputs
  kEmbedding,  // a vector per text
  kRerank,     // a score per pair of texts
  kClassify,   // a score per class, for a text or a pair
};
template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<ModelTask> = {"auto", "embedding",
                                                                        "rerank", "classify"};

}  // namespace mpsd
