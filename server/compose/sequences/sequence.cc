#include "server/compose/sequences/sequence.h"

#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/request/sequence_policy.h"

namespace mpsd {

SequenceKey SequenceKey::Of(const Request& request) {
  MPSD_CHECK(request.sequence != nullptr);
  return {request.sequence->number, request.sequence->name, request.tenant, request.rules_version};
}

std::string SequenceKey::Text() const {
  return name.empty() ? absl::StrCat(number) : absl::Utf8SafeCEscape(name);
}

void Sequence::ClearState() {
  if (state_bytes_ == 0) return;
  if (state_ == nullptr) state_.reset(new char[state_bytes_]);
  std::memset(state_.get(), 0, state_bytes_);
}

}  // namespace mpsd
