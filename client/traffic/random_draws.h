// Random numbers of several distributions, the same on every platform, unlike the standard's own.
#pragma once

#include <cstdint>
#include <random>

namespace mpsd::traffic {

// A number from 0 to 1, without 1.
inline double DrawUnit(std::mt19937_64* bits) {
  return static_cast<double>((*bits)() >> 11) * 0x1p-53;
}

// The scale is 1: mean and variance are `shape`, and shape 1 is the exponential distribution.
// REQUIRES: shape > 0.
double DrawGamma(double shape, std::mt19937_64* bits);

}  // namespace mpsd::traffic
