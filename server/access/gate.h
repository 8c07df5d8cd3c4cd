// Gate: holds the access rules in force. Every gRPC and HTTP call passes it.
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

// Holds the AccessPolicy in force; a reload may replace it while calls arrive. The first thing that
// a call meets, in step 1 of a request's life: before its message is read or anything is looked up.
//
//   the call arrives  → Enter(method, credentials)    may the caller call this method at all?
//   the model is read → MayUse(method, grant, model)  with this model?
//                         nothing: other rules came into force → Enter() again, then MayUse()
//
// A grant names rules by their index in one policy, with that policy's version: after a reload it
// opens nothing. So a token that a reload removed is invalid from the next request on, even in an
// open stream.
//
// Owned by the daemon, used by the HttpGate. Never blocks on a file or a network.
// Thread-safe. While no rules are in force a call costs one load. Otherwise it takes a shared lock
// and no heap memory.
class Gate {
 public:
  // Puts these rules in force. Calls inside go on; a stream's next request is judged by the new
  // rules. Does nothing if these rules are in force already: grants stay valid, and tenants keep
  // their numbers. REQUIRES: as AccessPolicy.
  void SetRules(const AccessRules& rules) ABSL_LOCKS_EXCLUDED(mu_);

  // Limits of these rules' tenants.
  RateTable* rates() { return &rates_; }

  // False: everything is allowed. One load.
  bool in_force() const { return in_force_.load(std::memory_order_acquire); }

  // True if the method needs no credentials, so that the caller need not look for any.
  bool IsOpen(const MethodAccess& method) const ABSL_LOCKS_EXCLUDED(mu_);

  // Whether the caller may call the method with any model; fills `*grant`. A caller may skip this
  // while in_force() is false. A gate that never had rules denies.
  Verdict Enter(const MethodAccess& method, const Credentials& credentials, Grant* grant) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // Whether the grant allows this model; for an empty name see AccessPolicy. Nothing if the rules
  // were replaced since: the caller must call Enter() again.
  std::optional<Verdict> MayUse(const MethodAccess& method, const Grant& grant,
                                absl::string_view model) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  std::atomic<bool> in_force_{false};
  mutable absl::Mutex mu_;
  uint64_t version_ ABSL_GUARDED_BY(mu_) = 0;  // version of policy_; each change adds one
  AccessRules rules_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<const AccessPolicy> policy_ ABSL_GUARDED_BY(mu_);
  RateTable rates_;
};

// A client's status for a verdict; OK for kAllowed. The texts never reveal whether a method or
// model exists.
absl::Status StatusOf(Verdict verdict);

}  // namespace mpsd
