// Gate: holds the access rules in force.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/access/access_policy.h"
#include "server/access/rate_table.h"

namespace mpsd {

// The first thing that a call meets, before its message is read.
//
//   the call arrives  → Enter(method, credentials)    may the caller call this method at all?
//   the model is read → MayUse(method, grant, model)  with this model?
//                         nothing: other rules came into force → Enter() again, then MayUse()
//
// A grant holds for one version of the policy, so a removed token is invalid from the next request
// on, even in an open stream.
//
// Owned by the daemon. Never blocks on a file or a network. Thread-safe. A call costs one load
// while no rules are in force, else a shared lock and no heap memory.
class Gate {
 public:
  // Calls inside go on; a stream's next request is judged by the new rules. Equal rules change
  // nothing: grants stay valid, and tenants keep their numbers. REQUIRES: as AccessPolicy.
  void SetRules(const AccessRules& rules) ABSL_LOCKS_EXCLUDED(mu_);

  // For these rules' tenants.
  RateTable* rates() { return &rates_; }

  // False: everything is allowed. One load.
  bool in_force() const { return in_force_.load(std::memory_order_acquire); }

  // Whether the method needs no credentials.
  bool IsOpen(const MethodAccess& method) const ABSL_LOCKS_EXCLUDED(mu_);

  // Whether the caller may call the method with any model; fills `*grant`. Need not be called while
  // in_force() is false. A gate that never had rules denies.
  Verdict Enter(const MethodAccess& method, const Credentials& credentials, Grant* grant) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // For an empty name see AccessPolicy. Nothing if the rules were replaced: the caller calls
  // Enter() again.
  std::optional<Verdict> MayUse(const MethodAccess& method, const Grant& grant,
                                absl::string_view model) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  std::atomic<bool> in_force_{false};
  mutable absl::Mutex mu_;
  uint64_t version_ ABSL_GUARDED_BY(mu_) = 0;  // each change of policy_ adds one
  AccessRules rules_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<const AccessPolicy> policy_ ABSL_GUARDED_BY(mu_);
  RateTable rates_;
};

// OK for kAllowed. The texts never reveal whether a method or model exists.
absl::Status StatusOf(Verdict verdict);

}  // namespace mpsd
