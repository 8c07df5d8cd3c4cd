#include "server/request/device_list.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/check.h"

namespace mpsd {
namespace {

constexpr absl::string_view kCudaPrefix = "cuda:";

}  // namespace

std::vector<std::string> DevicesOfText(absl::string_view text) {
  MPSD_CHECK(text != kAllCudaDevices);
  if (!absl::ConsumePrefix(&text, kCudaPrefix)) return {std::string(text)};
  std::vector<std::string> devices;
  for (const absl::string_view number : absl::StrSplit(text, ',')) {
    devices.push_back(absl::StrCat(kCudaPrefix, number));
  }
  return devices;
}

std::string DeviceListText(absl::Span<const std::string> devices) {
  std::vector<absl::string_view> seen;
  std::string text;
  for (const std::string& device : devices) {
    if (device.empty() || std::find(seen.begin(), seen.end(), device) != seen.end()) continue;
    absl::string_view name = device;
    const bool goes_on = !seen.empty() && absl::StartsWith(seen.back(), kCudaPrefix) &&
                         absl::ConsumePrefix(&name, kCudaPrefix);
    absl::StrAppend(&text, seen.empty() ? "" : ",", goes_on ? name : device);
    seen.push_back(device);
  }
  return text;
}

}  // namespace mpsd
