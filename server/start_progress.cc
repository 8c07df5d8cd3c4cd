#include "server/start_progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace mpsd {

std::string StartProgress::LineAt(int64_t now_ns, const std::vector<std::string>& loading) {
  const int64_t after_ns = now_ns - since_ns_;
  if (loading.empty() || after_ns < next_after_ns_) return "";
  next_after_ns_ = after_ns + std::clamp(after_ns / 2, kFirstProgressNs, kLastProgressNs);
  const std::string more = absl::StrCat(" and ", loading.size() - 1, " more");
  const size_t done = models_ - std::min(models_, loading.size());
  return absl::StrCat("loading ", loading.front(), loading.size() > 1 ? more : "", " (", done,
                      " of ", models_, " done), ", after_ns / kNsPerSecond, " s\n");
}

}  // namespace mpsd
