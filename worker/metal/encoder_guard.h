// EncoderGuard: admits one thread at a time to a Metal driver's methods that begin and end
// encoders.
//
// If several threads encode, the driver lets one take an encoder apart while another is in the same
// code, and the process crashes. Encoding between these methods stays parallel.
//
//   a lane's thread ──▶ [buffer computeCommandEncoder] ──▶ lock ─▶ the driver's own code
//   another one     ──▶ [encoder endEncoding]          ──▶ lock ─▶ the driver's own code
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/metal/objective_c.h"

namespace mpsd {

// Arguments besides receiver and selector, and the result.
enum class EncoderCall {
  kMakes,      // no argument; returns an encoder
  kMakesWith,  // one word: a descriptor or a way to dispatch; returns an encoder
  kEnds,       // no argument; returns nothing
};

// `selector` outlives the guard.
struct EncoderMethod {
  ObjectiveC::Class owner = nullptr;
  const char* selector = "";
  EncoderCall call = EncoderCall::kEnds;
};

// Bounds all guards of a process; a driver has half as many.
inline constexpr size_t kMaxGuardedMethods = 32;

// Only tests destroy a guard: it is for the life of the process. Its lock is the innermost, because
// inside these methods the driver waits for no other thread. A method may call another one.
// Verify() and calls() are thread-safe; any thread may call the methods.
class EncoderGuard {
 public:
  // INVALID_ARGUMENT names a method that its class does not have. RESOURCE_EXHAUSTED beyond
  // kMaxGuardedMethods. After an error nothing is guarded. REQUIRES: no thread encodes yet.
  static absl::StatusOr<std::unique_ptr<EncoderGuard>> Install(
      const ObjectiveC& runtime, absl::Span<const EncoderMethod> methods);

  EncoderGuard(const EncoderGuard&) = delete;
  EncoderGuard& operator=(const EncoderGuard&) = delete;

  // Puts the methods back. REQUIRES: no thread is in one, and guards end in reverse order.
  ~EncoderGuard();

  // FAILED_PRECONDITION names the first method that other code has replaced.
  absl::Status Verify() const;

  uint64_t calls() const;

 private:
  struct Guarded {
    EncoderMethod method;
    size_t slot = 0;
  };

  explicit EncoderGuard(const ObjectiveC& runtime) : runtime_(runtime) {}
  bool Guard(const EncoderMethod& method);

  const ObjectiveC runtime_;
  std::vector<Guarded> guarded_;  // constant after Install()
};

}  // namespace mpsd
