#include "tests/fuzz/load_hook.h"

#include <cstring>
#include <utility>

namespace mpsd {
namespace {

LoadHook* current = nullptr;

}  // namespace

LoadHook::LoadHook(const void* first, size_t bytes, std::function<void()> before_load)
    : first_(reinterpret_cast<uintptr_t>(first)),
      bytes_(bytes),
      before_load_(std::move(before_load)) {
  current = this;
}

LoadHook::~LoadHook() { current = nullptr; }

void LoadHook::Load(const volatile void* address) {
  if (current == nullptr || current->inside_) return;
  if (reinterpret_cast<uintptr_t>(address) - current->first_ >= current->bytes_) return;
  current->inside_ = true;
  ++current->loads_;
  current->before_load_();
  current->inside_ = false;
}

}  // namespace mpsd

// The instrumentation of gcc and clang calls these. Each order that is asked for becomes seq_cst.
// clang-format off
#define MPSD_PLAIN(bytes)                                                               \
  void __tsan_read##bytes(void* address) { mpsd::LoadHook::Load(address); }             \
  void __tsan_unaligned_read##bytes(void* address) { mpsd::LoadHook::Load(address); }   \
  void __tsan_volatile_read##bytes(void* address) { mpsd::LoadHook::Load(address); }    \
  void __tsan_read_write##bytes(void* address) { mpsd::LoadHook::Load(address); }       \
  void __tsan_unaligned_read_write##bytes(void* address) { mpsd::LoadHook::Load(address); } \
  void __tsan_write##bytes(void*) {}                                                    \
  void __tsan_unaligned_write##bytes(void*) {}                                          \
  void __tsan_volatile_write##bytes(void*) {}

#define MPSD_ATOMIC(bits)                                                                      \
  uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t* word, int) {        \
    mpsd::LoadHook::Load(word);                                                                \
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);                                            \
  }                                                                                            \
  void __tsan_atomic##bits##_store(volatile uint##bits##_t* word, uint##bits##_t value, int) { \
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);                                           \
  }                                                                                            \
  uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t* word,                 \
                                                uint##bits##_t value, int) {                   \
    return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);                                 \
  }                                                                                            \
  uint##bits##_t __tsan_atomic##bits##_fetch_add(volatile uint##bits##_t* word,                \
                                                 uint##bits##_t value, int) {                  \
    return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);                                  \
  }                                                                                            \
  uint##bits##_t __tsan_atomic##bits##_fetch_sub(volatile uint##bits##_t* word,                \
                                                 uint##bits##_t value, int) {                  \
    return __atomic_fetch_sub(word, value, __ATOMIC_SEQ_CST);                                  \
  }                                                                                            \
  int __tsan_atomic##bits##_compare_exchange_strong(                                           \
      volatile uint##bits##_t* word, uint##bits##_t* expected, uint##bits##_t value, int, int) { \
    return __atomic_compare_exchange_n(word, expected, value, false, __ATOMIC_SEQ_CST,         \
                                       __ATOMIC_SEQ_CST);                                      \
  }                                                                                            \
  int __tsan_atomic##bits##_compare_exchange_weak(                                             \
      volatile uint##bits##_t* word, uint##bits##_t* expected, uint##bits##_t value, int, int) { \
    return __atomic_compare_exchange_n(word, expected, value, true, __ATOMIC_SEQ_CST,          \
                                       __ATOMIC_SEQ_CST);                                      \
  }                                                                                            \
  uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                   \
      volatile uint##bits##_t* word, uint##bits##_t expected, uint##bits##_t value, int, int) { \
    __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST,               \
                                __ATOMIC_SEQ_CST);                                             \
    return expected;                                                                           \
  }

// clang-format on
extern "C" {
MPSD_PLAIN(1)
MPSD_PLAIN(2)
MPSD_PLAIN(4)
MPSD_PLAIN(8)
MPSD_PLAIN(16)
MPSD_ATOMIC(8)
MPSD_ATOMIC(32)
MPSD_ATOMIC(64)
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read_range(void* address, size_t) { mpsd::LoadHook::Load(address); }
void __tsan_write_range(void*, size_t) {}
void __tsan_atomic_signal_fence(int) {}
void __tsan_mutex_create(void*, unsigned) {}
void __tsan_mutex_destroy(void*, unsigned) {}
void __tsan_mutex_pre_lock(void*, unsigned) {}
void __tsan_mutex_post_lock(void*, unsigned, int) {}
int __tsan_mutex_pre_unlock(void*, unsigned) { return 0; }
void __tsan_mutex_post_unlock(void*, unsigned) {}
void __tsan_mutex_pre_signal(void*, unsigned) {}
void __tsan_mutex_post_signal(void*, unsigned) {}
void __tsan_mutex_pre_divert(void*, unsigned) {}
void __tsan_mutex_post_divert(void*, unsigned) {}
void __tsan_atomic_thread_fence(int) {}

// The watched code's memcpy, by the linker's --wrap. A copy is not one load: the memory changes
// before each of its words.
void* __real_memcpy(void* target, const void* source, size_t bytes);
void* __wrap_memcpy(void* target, const void* source, size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    const size_t step = bytes - at < sizeof(uint64_t) ? bytes - at : sizeof(uint64_t);
    mpsd::LoadHook::Load(static_cast<const char*>(source) + at);
    __real_memcpy(static_cast<char*>(target) + at, static_cast<const char*>(source) + at, step);
  }
  return target;
}
}
