// EncoderGuard: admits one thread at a time to a Metal driver's methods that begin and end
// encoders.
//
// If several threads encode, the driver lets one thread take an encoder apart while another is in
// the same code. The process then crashes, in code that nobody here can fix. The guard replaces
// each such method by a function that takes one process-wide lock and then runs the original
// method. The encoding between these methods stays parallel.
//
//   a lane's thread ──▶ [buffer computeCommandEncoder] ──▶ lock ─▶ the driver's own code
//   another one     ──▶ [encoder endEncoding]          ──▶ lock ─▶ the driver's own code
//
// driver_methods.h finds the methods; driver_guard.h says which workers need the guard.
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

// The arguments that a method takes besides its receiver and selector, and its result.
enum class EncoderCall {
  kMakes,      // no argument; returns an encoder
  kMakesWith,  // one word: a descriptor, or how the encoder dispatches; returns an encoder
  kEnds,       // no argument; returns nothing
};

// One method to guard. `selector` is a text that outlives the guard.
struct EncoderMethod {
  ObjectiveC::Class owner = nullptr;
  const char* selector = "";
  EncoderCall call = EncoderCall::kEnds;
};

// The most methods that a process's guards may have together; a driver has about half as many.
inline constexpr size_t kMaxGuardedMethods = 32;

// Made before the first thread encodes, and kept for the life of the process. Only tests destroy a
// guard, which puts the methods back. Its lock is the innermost: nothing that the driver does
// inside these methods waits for another thread, and a method may call another guarded one.
// Verify() and calls() are thread-safe; the methods themselves may be called by any thread.
class EncoderGuard {
 public:
  // Guards these methods. INVALID_ARGUMENT names a method that its class does not have.
  // RESOURCE_EXHAUSTED if the process already has kMaxGuardedMethods. Nothing is guarded after an
  // error. A method that is already guarded gets a second guard around the first, with the same
  // lock.
  static absl::StatusOr<std::unique_ptr<EncoderGuard>> Install(
      const ObjectiveC& runtime, absl::Span<const EncoderMethod> methods);

  EncoderGuard(const EncoderGuard&) = delete;
  EncoderGuard& operator=(const EncoderGuard&) = delete;

  // REQUIRES: no thread is in a guarded method, and guards are destroyed in reverse order.
  ~EncoderGuard();

  // OK while each of the methods runs the guard's code. FAILED_PRECONDITION names the first method
  // that other code has replaced since.
  absl::Status Verify() const;

  // How often guarded methods were called so far.
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
