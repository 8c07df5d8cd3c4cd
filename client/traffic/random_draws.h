// Random numbers of several distributions, the same on every platform, unlike the results of the
// standard's own distributions.
#pragma once

#include <cstdint>
#include <random>

namespace mpsd::traffic {

// A number from 0 to 1, without 1.
inline double DrawUnit(std::mt19937_64* bits) {
  return static_cast<double>((*bits)() >> 11) * 0x1p-53;
}

// A number from a gamma distribution with scale 1. Mean and variance are `shape`; with shape 1 it
// is the exponential distribution. REQUIRES: shape > 0.
double DrawGamma(double shape, std::mt19937_64* bits);

}  // namespace mpsd::traffic
