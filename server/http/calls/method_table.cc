#include "server/http/calls/method_table.h"

#include <utility>

#include "proto/base/check.h"
#include "server/http/connections/socket_names.h"

namespace mpsd {

bool CallerInfo::IsLocal() const { return IsOfThisHost(peer); }

void MethodTable::Add(const std::string& name, Kind kind, Unary unary) {
  MPSD_CHECK(kind == Kind::kUnary || kind == Kind::kConversation);
  AddMethod(name, {kind, std::move(unary), nullptr, nullptr});
}

void MethodTable::AddWatched(const std::string& name, State state, Unary unary) {
  AddMethod(name, {Kind::kWatched, std::move(unary), nullptr, std::move(state)});
}

void MethodTable::AddPeriodic(const std::string& name, Pause pause, Unary unary) {
  AddMethod(name, {Kind::kWatched, std::move(unary), nullptr, nullptr, std::move(pause)});
}

void MethodTable::AddDeferred(const std::string& name, Deferred deferred) {
  AddMethod(name, {Kind::kDeferred, nullptr, std::move(deferred), nullptr});
}

void MethodTable::AddMethod(const std::string& name, Method method) {
  const bool fresh = methods_.emplace(name, std::move(method)).second;
  MPSD_CHECK(fresh);
}

const MethodTable::Method* MethodTable::Find(absl::string_view name) const {
  const auto found = methods_.find(name);
  return found == methods_.end() ? nullptr : &found->second;
}

}  // namespace mpsd
