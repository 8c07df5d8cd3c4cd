// Random numbers of several distributions. The standard fixes the bits of std::mt19937_64, and not
// what its distributions make of them: these give the same numbers on every platform.
#pragma once

#include <cstdint>
#include <random>

namespace mpsd::traffic {

// From 0 to 1, without 1.
inline double DrawUnit(std::mt19937_64* bits) {
  return static_cast<double>((*bits)() >> 11) * 0x1p-53;
}

// Of a gamma distribution with a scale of 1: its mean and its variance are `shape`, and with a
// shape of 1 it is the exponential distribution. REQUIRES: shape > 0.
double DrawGamma(double shape, std::mt19937_64* bits);

}  // namespace mpsd::traffic
