#include "server/operate/doctor/descriptor_needs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

std::string Figures(const DescriptorNeeds& needs, uint64_t descriptors) {
  return absl::StrCat("this process may have ", descriptors, " descriptors (ulimit -Hn), but ",
                      needs.workers, " workers of ", needs.models, " models take about ",
                      needs.ToServe());
}

}  // namespace

absl::Status CheckDescriptors(const DescriptorNeeds& needs, uint64_t descriptors) {
  if (needs.ToServe() + kFewestConnections <= descriptors) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(Figures(needs, descriptors), ", and each client one more; raise the limit"));
}

uint32_t ConnectionsThatFit(uint32_t wanted, const DescriptorNeeds& needs, uint64_t descriptors) {
  if (needs.InAll() <= descriptors) return wanted;
  const uint64_t kept = needs.ToServe() + kSpareDescriptors;
  const uint64_t left = std::max(descriptors, kept + kFewestConnections) - kept;
  return static_cast<uint32_t>(std::max<uint64_t>(1, wanted * left / needs.connections));
}

std::string DescriptorWarning(const DescriptorNeeds& needs, uint64_t descriptors) {
  if (needs.InAll() <= descriptors) return "";
  return absl::StrCat(Figures(needs, descriptors), " and limits.connections ", needs.connections,
                      " more; fewer connections are taken");
}

}  // namespace mpsd
