#include "server/accept/method_table.h"

#include <utility>

#include "absl/strings/match.h"
#include "proto/base/check.h"

namespace mpsd {

bool CallerInfo::IsLocal() const {
  return absl::StartsWith(peer, "unix:") || absl::StartsWith(peer, "ipv4:127.") ||
         absl::StartsWith(peer, "ipv6:[::1]") || absl::StartsWith(peer, "ipv6:%5B::1%5D");
}

void MethodTable::Add(const std::string& name, Kind kind, Unary unary) {
  const bool fresh = methods_.emplace(name, Method{kind, std::move(unary), nullptr}).second;
  MPSD_CHECK(fresh);
}

void MethodTable::AddDeferred(const std::string& name, Deferred deferred) {
  Method method{Kind::kDeferred, nullptr, std::move(deferred)};
  const bool fresh = methods_.emplace(name, std::move(method)).second;
  MPSD_CHECK(fresh);
}

const MethodTable::Method* MethodTable::Find(absl::string_view name) const {
  const auto found = methods_.find(name);
  return found == methods_.end() ? nullptr : &found->second;
}

}  // namespace mpsd
