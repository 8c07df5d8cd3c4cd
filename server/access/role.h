// Role: a group of methods that a rule of the config allows together.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mpsd {

// Each method names the roles that may call it: method_access.cc.
enum class Role : uint8_t { kInfer, kHealth, kMetrics, kControl, kReflection };

// In the order of Role.
inline constexpr std::array<std::string_view, 5> kRoleNames = {"infer", "health", "metrics",
                                                               "control", "reflection"};

// A set of roles. A value. Thread-compatible.
class RoleSet {
 public:
  constexpr RoleSet() = default;
  constexpr RoleSet(Role role) : bits_(Bit(role)) {}  // NOLINT: a role is a set of one

  constexpr bool empty() const { return bits_ == 0; }
  // Whether the two sets have a role in common.
  constexpr bool Meets(RoleSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr RoleSet operator|(RoleSet other) const { return RoleSet(bits_ | other.bits_); }
  constexpr bool operator==(const RoleSet&) const = default;

 private:
  static constexpr unsigned Bit(Role role) { return 1U << static_cast<unsigned>(role); }
  constexpr explicit RoleSet(unsigned bits) : bits_(bits) {}

  unsigned bits_ = 0;
};

}  // namespace mpsd
