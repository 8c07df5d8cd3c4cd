// IsMutant: a process is the mutant that the variable MPSD_MUTANT names, or none.
//
// ./run mutants puts this include and calls of IsMutant() into its copy of the sources. No source
// of the repository includes it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <type_traits>

namespace mpsd {

// FNV-1a, so that a comparison of names costs as much as one of numbers. Thread-safe.
constexpr uint64_t HashMutantName(const char* name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (; *name != '\0'; ++name) {
    hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3;
  }
  return hash;
}

// The hash of a literal, made by the compiler. Thread-compatible.
struct MutantName {
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval MutantName(const char* name) : hash(HashMutantName(name)) {}
  uint64_t hash;
};

// Thread-safe.
inline uint64_t ChosenMutant() {
  static const uint64_t chosen = [] {
    const char* name = std::getenv("MPSD_MUTANT");
    return name == nullptr ? 0 : HashMutantName(name);
  }();
  return chosen;
}

// A call that the compiler evaluates is never a mutant. Thread-safe.
constexpr bool IsMutant(MutantName mutant) {
  return !std::is_constant_evaluated() && mutant.hash == ChosenMutant();
}

}  // namespace mpsd
