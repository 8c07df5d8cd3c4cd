// Gate: the one thing that every call of every service passes, over gRPC and over HTTP.
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

namespace mpsd {

// What a caller got when he entered. A value, kept with the call.
struct Grant {
  uint64_t generation = 0;  // of the rules by which it was given; 0: none
  RuleSet rules;
};

// Thread-safe. Holds the policy that is in force and lets it be replaced while calls come. Owned by
// the daemon, asked by accept/ and by the HTTP server. While no rules are in force a call costs one
// load; otherwise it takes no memory from the heap.
class Gate {
 public:
  // From now on these rules count. Calls that are inside go on; the next request of a stream is
  // held to them.
  void SetRules(const AccessRules& rules) ABSL_LOCKS_EXCLUDED(mu_);

  bool in_force() const { return in_force_.load(std::memory_order_acquire); }

  // True where nobody needs credentials for the method: there is no need to look for any.
  bool IsOpen(const MethodAccess& method) const ABSL_LOCKS_EXCLUDED(mu_);

  // Whether the caller may call the method at all. REQUIRES: in_force() was true.
  Verdict Enter(const MethodAccess& method, const Credentials& credentials, Grant* grant) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // Whether he may do so with this model; empty stands for all of them. Nothing when other rules
  // have come since the grant was given: then he must enter anew.
  std::optional<Verdict> MayUse(const MethodAccess& method, const Grant& grant,
                                absl::string_view model) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  std::atomic<bool> in_force_{false};
  mutable absl::Mutex mu_;
  uint64_t generation_ ABSL_GUARDED_BY(mu_) = 0;
  std::unique_ptr<const AccessPolicy> policy_ ABSL_GUARDED_BY(mu_);
};

// How a client is told of a verdict; OK for kAllowed. The texts say nothing of what there is: not
// whether a method or a model exists.
absl::Status StatusOf(Verdict verdict);

}  // namespace mpsd
