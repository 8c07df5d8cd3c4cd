#include "server/doctor/descriptor_needs.h"

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

std::string DescriptorWarning(const DescriptorNeeds& needs, uint64_t descriptors) {
  if (needs.InAll() <= descriptors) return "";
  return absl::StrCat(Figures(needs, descriptors), " and limits.connections ", needs.connections,
                      " more; clients beyond the rest wait");
}

}  // namespace mpsd
