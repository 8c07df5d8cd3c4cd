// The gate takes no memory from the heap for a call: every operator new is counted, and what the
// cryptographic library takes besides.
#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "server/access/gate.h"
#include "tests/server/access/rules.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void* Allocate(std::size_t bytes) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1);
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* CryptoAllocate(std::size_t bytes, const char*, int) { return Allocate(bytes); }
void* CryptoReallocate(void* memory, std::size_t bytes, const char*, int) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1);
  return std::realloc(memory, bytes);
}
void CryptoFree(void* memory, const char*, int) { std::free(memory); }

// Only possible before the library's first allocation.
const int crypto_is_counted =
    CRYPTO_set_mem_functions(&CryptoAllocate, &CryptoReallocate, &CryptoFree);

void* AllocateOrAbort(std::size_t bytes) {
  void* memory = Allocate(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return AllocateOrAbort(bytes); }
void* operator new[](std::size_t bytes) { return AllocateOrAbort(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace mpsd {
namespace {

TEST(GateAllocations, ThereAreNoneForACall) {
  ASSERT_EQ(crypto_is_counted, 1);
  Gate gate;
  gate.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"a_model_with_a_long_name"}),
                           CertificateRule("a.example", Role::kInfer)}));
  const std::array<absl::string_view, 1> names = {"a.example"};
  const Credentials shown[] = {
      {"Bearer ops-secret", false, {}}, {"Bearer wrong", false, {}}, {"", false, names}, {}};
  int allowed = 0;
  for (int round = 0; round < 3; ++round) {
    allocations = 0;
    for (const Credentials& credentials : shown) {
      counting = true;
      Grant grant;
      const Verdict entered = gate.Enter(kModelInferAccess, credentials, &grant);
      const auto used = gate.MayUse(kModelInferAccess, grant, "a_model_with_a_long_name");
      counting = false;
      allowed += entered == Verdict::kAllowed && used == Verdict::kAllowed ? 1 : 0;
    }
  }
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(allowed, 6);
}

TEST(GateAllocations, AreCounted) {
  allocations = 0;
  counting = true;
  Gate gate;
  gate.SetRules(TestRules({}));
  counting = false;
  EXPECT_GT(allocations, 0);
}

}  // namespace
}  // namespace mpsd
