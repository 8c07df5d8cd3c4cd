// DeviceList: a model's devices in one text.
//
//   "cpu", "mps", "cuda:1"   one device
//   "cuda:0,2"               several, which only CUDA has
//   "cuda:all"               every CUDA device of the host; only in a config
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

inline constexpr char kAllCudaDevices[] = "cuda:all";

// {"cuda:0", "cuda:2"}. REQUIRES: the text is not kAllCudaDevices. Pure.
std::vector<std::string> DevicesOfText(absl::string_view text);

// The reverse. Names each device once, in the order of first mention, without empty names. Pure.
std::string DeviceListText(absl::Span<const std::string> devices);

// "cuda" is "cuda:0". Pure.
inline std::string OneNameOf(const std::string& device) {
  return device == "cuda" ? "cuda:0" : device;
}

}  // namespace mpsd
