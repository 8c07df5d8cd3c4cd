#include "worker/metal/encoder_guard.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

using Code = ObjectiveC::Code;
using Object = ObjectiveC::Object;
using Selector = ObjectiveC::Selector;

// A replaced method is a C function without a context, so it finds its data in a global slot.
struct Slot {
  Code original = nullptr;  // written before the method is replaced; null: free
  std::atomic<uint64_t> calls{0};
};

std::array<Slot, kMaxGuardedMethods> slots;

// Never destroyed: the driver's threads may end encoders while the process exits. Recursive: some
// methods call others.
std::recursive_mutex& CallLock() {
  static auto* const lock = new std::recursive_mutex;
  return *lock;
}

// While a Turn lives, its thread is alone in guarded methods.
class Turn {
 public:
  explicit Turn(size_t slot) : lock_(CallLock()) {
    slots[slot].calls.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  const std::lock_guard<std::recursive_mutex> lock_;
};

template <size_t kSlot>
Object Makes(Object self, Selector selector) {
  const Turn turn(kSlot);
  return reinterpret_cast<Object (*)(Object, Selector)>(slots[kSlot].original)(self, selector);
}

template <size_t kSlot>
Object MakesWith(Object self, Selector selector, void* argument) {
  const Turn turn(kSlot);
  return reinterpret_cast<Object (*)(Object, Selector, void*)>(slots[kSlot].original)(
      self, selector, argument);
}

template <size_t kSlot>
void Ends(Object self, Selector selector) {
  const Turn turn(kSlot);
  reinterpret_cast<void (*)(Object, Selector)>(slots[kSlot].original)(self, selector);
}

// All slots' functions, by kind of call.
struct SlotCode {
  Code makes = nullptr;
  Code makes_with = nullptr;
  Code ends = nullptr;
};

template <size_t... kSlots>
std::array<SlotCode, sizeof...(kSlots)> CodeOfSlots(std::index_sequence<kSlots...>) {
  return {SlotCode{reinterpret_cast<Code>(&Makes<kSlots>),
                   reinterpret_cast<Code>(&MakesWith<kSlots>),
                   reinterpret_cast<Code>(&Ends<kSlots>)}...};
}

Code CodeOfSlot(size_t slot, EncoderCall call) {
  static const auto codes = CodeOfSlots(std::make_index_sequence<kMaxGuardedMethods>());
  switch (call) {
    case EncoderCall::kMakes:
      return codes[slot].makes;
    case EncoderCall::kMakesWith:
      return codes[slot].makes_with;
    case EncoderCall::kEnds:
      return codes[slot].ends;
  }
  return nullptr;
}

std::string MethodName(const ObjectiveC& runtime, const EncoderMethod& method) {
  return absl::StrCat("-[", runtime.NameOf(method.owner), " ", method.selector, "]");
}

}  // namespace

absl::StatusOr<std::unique_ptr<EncoderGuard>> EncoderGuard::Install(
    const ObjectiveC& runtime, absl::Span<const EncoderMethod> methods) {
  for (const EncoderMethod& method : methods) {
    if (runtime.Has(method.owner, runtime.Named(method.selector))) continue;
    return absl::InvalidArgumentError(absl::StrCat("there is no ", MethodName(runtime, method)));
  }
  std::unique_ptr<EncoderGuard> guard(new EncoderGuard(runtime));
  for (const EncoderMethod& method : methods) {
    if (guard->Guard(method)) continue;
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", kMaxGuardedMethods, " methods are to be guarded"));
  }
  return guard;
}

// False when no slot is free.
bool EncoderGuard::Guard(const EncoderMethod& method) {
  const std::lock_guard<std::recursive_mutex> lock(CallLock());
  const auto free = std::find_if(slots.begin(), slots.end(),
                                 [](const Slot& slot) { return slot.original == nullptr; });
  if (free == slots.end()) return false;
  const Selector selector = runtime_.Named(method.selector);
  const size_t slot = static_cast<size_t>(free - slots.begin());
  free->calls = 0;
  free->original = runtime_.CodeOf(method.owner, selector);
  runtime_.Replace(method.owner, selector, CodeOfSlot(slot, method.call));
  guarded_.push_back({method, slot});
  return true;
}

EncoderGuard::~EncoderGuard() {
  const std::lock_guard<std::recursive_mutex> lock(CallLock());
  for (auto at = guarded_.rbegin(); at != guarded_.rend(); ++at) {
    Slot& slot = slots[at->slot];
    runtime_.Replace(at->method.owner, runtime_.Named(at->method.selector), slot.original);
    slot.original = nullptr;
  }
}

absl::Status EncoderGuard::Verify() const {
  for (const Guarded& guarded : guarded_) {
    const Selector selector = runtime_.Named(guarded.method.selector);
    const Code code = runtime_.CodeOf(guarded.method.owner, selector);
    if (code == CodeOfSlot(guarded.slot, guarded.method.call)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(MethodName(runtime_, guarded.method), " was replaced by somebody else"));
  }
  return absl::OkStatus();
}

uint64_t EncoderGuard::calls() const {
  uint64_t calls = 0;
  for (const Guarded& guarded : guarded_) calls += slots[guarded.slot].calls.load();
  return calls;
}

}  // namespace mpsd
