// The names of an enum's values: one table per enum, for config files, messages and logs.
//
//   enum class Fruit { kApple, kPear };
//   template <>
//   inline constexpr std::array<std::string_view, 2> kNamesOf<Fruit> = {"apple", "pear"};
//
//   NameOf(Fruit::kPear)                 "pear"
//   FromName<Fruit>("apple")             Fruit::kApple
//   object.GetChoice("fruit", &fruit)    reads it from JSON (json_object.h)
//
// One table serves both directions, so every written name can be read back.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace mpsd {

// The names of the values of `Enum`, in order. The enum's values must be 0, 1, 2, … without a gap.
// Each enum with names specializes this beside its definition. Names stand in config files and
// messages, so they never change.
template <typename Enum>
inline constexpr std::array<std::string_view, 0> kNamesOf{};

// The name of `value`, a text that ends with a zero and lives as long as the process. REQUIRES:
// `value` is one of the enum's values.
template <typename Enum>
requires std::is_enum_v<Enum>
constexpr const char* NameOf(Enum value) {
  return kNamesOf<Enum>.at(static_cast<size_t>(value)).data();
}

// The value with that name; nothing if there is none. Case matters.
template <typename Enum>
constexpr std::optional<Enum> FromName(std::string_view name) {
  for (size_t i = 0; i < kNamesOf<Enum>.size(); ++i) {
    if (kNamesOf<Enum>[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace mpsd
