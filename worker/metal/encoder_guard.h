// EncoderGuard: one thread at a time in the methods of a Metal driver that begin and end encoders.
//
// A command encoder is an object of the driver. Where several threads encode, the driver lets one
// thread take an encoder apart while another is in the same code, and the process crashes in code
// that nobody here can mend. The guard stands in front of the methods: it replaces each by a
// function that takes one process-wide lock and then runs the method as it was. What lies between,
// the encoding itself, stays as parallel as it is.
//
//   a lane's thread ──▶ [buffer computeCommandEncoder] ──▶ lock ─▶ the driver's own code
//   another one     ──▶ [encoder endEncoding]          ──▶ lock ─▶ the driver's own code
//
// driver_methods.h finds the methods; driver_guard.h says who needs the guard.
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

// What a method takes beside its receiver and selector, and gives back.
enum class EncoderCall {
  kMakes,      // nothing; an encoder
  kMakesWith,  // one argument of a word: a descriptor, or how the encoder dispatches; an encoder
  kEnds,       // nothing; nothing
};

// One method to guard. `selector` is a text that outlives the guard.
struct EncoderMethod {
  ObjectiveC::Class owner = nullptr;
  const char* selector = "";
  EncoderCall call = EncoderCall::kEnds;
};

// How many methods the guards of a process have together: those of a driver are about half as many.
inline constexpr size_t kMaxGuardedMethods = 32;

// Made before the first thread encodes, and kept for the life of the process: the end of a guard
// puts the methods back, for tests. Its lock is the innermost: nothing that the driver does inside
// of these methods waits for another thread, and a method may call another guarded one. Verify()
// and calls() are thread-safe; the methods themselves may be called by any thread.
class EncoderGuard {
 public:
  // Guards these methods. INVALID_ARGUMENT names one that its class does not have;
  // RESOURCE_EXHAUSTED where the process has kMaxGuardedMethods already. Nothing is guarded after
  // an error. A method that is guarded already gets a second guard around the first, with the same
  // lock.
  static absl::StatusOr<std::unique_ptr<EncoderGuard>> Install(
      const ObjectiveC& runtime, absl::Span<const EncoderMethod> methods);

  EncoderGuard(const EncoderGuard&) = delete;
  EncoderGuard& operator=(const EncoderGuard&) = delete;

  // REQUIRES: no thread is in a guarded method, and guards end in the reverse order.
  ~EncoderGuard();

  // OK while each of the methods runs the guard's code. FAILED_PRECONDITION names the first that
  // does not: somebody else has replaced it since.
  absl::Status Verify() const;

  // How many times a guarded method was called so far.
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
