// On a Mac int64_t is long long, and on Linux long. Two of libtorch's sources compare theirs with a
// number of the type long long. The compiler includes this file before these two.
#pragma once

#include <algorithm>

namespace std {

constexpr long max(long left, long long right) { return left < right ? right : left; }
constexpr long max(long long left, long right) { return max(right, left); }

}  // namespace std
