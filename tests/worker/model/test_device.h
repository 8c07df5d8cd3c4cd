// TestDevice: the device that tests of torch models run on: MPSD_TEST_DEVICE, otherwise the cpu.
#pragma once

#include <cstdlib>
#include <string>

namespace mpsd {

inline std::string TestDevice() {
  const char* device = std::getenv("MPSD_TEST_DEVICE");
  return device == nullptr ? "cpu" : device;
}

}  // namespace mpsd
