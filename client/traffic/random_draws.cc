#include "client/traffic/random_draws.h"

#include <cmath>

#include "proto/base/check.h"

namespace mpsd::traffic {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Uses Box and Muller's method.
double DrawNormal(std::mt19937_64* bits) {
  const double radius = std::sqrt(-2 * std::log1p(-DrawUnit(bits)));
  return radius * std::cos(2 * kPi * DrawUnit(bits));
}

// Uses Marsaglia and Tsang's method. REQUIRES: shape >= 1.
double DrawWideGamma(double shape, std::mt19937_64* bits) {
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double normal = DrawNormal(bits);
    if (c * normal <= -1) continue;
    const double v = std::pow(1 + c * normal, 3);
    const double limit = normal * normal / 2 + d * (1 - v + std::log(v));
    if (std::log1p(-DrawUnit(bits)) < limit) return d * v;
  }
}

}  // namespace

double DrawGamma(double shape, std::mt19937_64* bits) {
  MPSD_CHECK(shape > 0);
  if (shape == 1) return -std::log1p(-DrawUnit(bits));
  if (shape > 1) return DrawWideGamma(shape, bits);
  const double wide = DrawWideGamma(shape + 1, bits);
  return wide * std::pow(DrawUnit(bits), 1 / shape);
}

}  // namespace mpsd::traffic
