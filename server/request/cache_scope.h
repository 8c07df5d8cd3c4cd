// CacheScope: who may get a kept answer.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proto/link/enum_names.h"

namespace mpsd {

// `models[].response_cache`, with the config's names.
enum class CacheScope : uint8_t {
  kOff,     // no answer is kept
  kTenant,  // a tenant gets answers to its own requests
  kShared,  // also answers to others' requests
};
template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<CacheScope> = {"off", "tenant", "shared"};

}  // namespace mpsd
