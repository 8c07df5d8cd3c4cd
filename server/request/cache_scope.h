// CacheScope: who may be given an answer that was kept.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proto/link/enum_names.h"

namespace mpsd {

// `models[].response_cache` of the config. The names are those of the config, in the order of the
// enumerators.
enum class CacheScope : uint8_t {
  kOff,     // no answer is kept
  kTenant,  // a tenant is given answers to its own requests alone
  kShared,  // and to those of all others
};
template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<CacheScope> = {"off", "tenant", "shared"};

}  // namespace mpsd
