// enum_names: the names of an enum's values, for config files, messages and logs.
//
//   enum class Fruit { kApple, kPear };
//   template <>
//   inline constexpr std::array<std::string_view, 2> kNamesOf<Fruit> = {"apple", "pear"};
//
//   NameOf(Fruit::kPear)                 "pear"
//   FromName<Fruit>("apple")             Fruit::kApple
//   object.GetChoice("fruit", &fruit)    reads it from JSON (json_object.h)
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace mpsd {

// The enum's values must be 0, 1, 2, … Each enum with names specializes this beside its definition.
// Names stand in files and messages, so they never change.
template <typename Enum>
inline constexpr std::array<std::string_view, 0> kNamesOf{};

// Ends with a zero and lives as long as the process. REQUIRES: `value` is one of the enum's.
template <typename Enum>
requires std::is_enum_v<Enum>
constexpr const char* NameOf(Enum value) {
  return kNamesOf<Enum>.at(static_cast<size_t>(value)).data();
}

// Nothing if there is none. Case matters.
template <typename Enum>
constexpr std::optional<Enum> FromName(std::string_view name) {
  for (size_t i = 0; i < kNamesOf<Enum>.size(); ++i) {
    if (kNamesOf<Enum>[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace mpsd
