// The gate takes no memory from the heap for a call: every operator new is counted, and what the
// cryptographic library takes besides.
#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <array>
#include <cstdlib>

#include "server/access/gate.h"
#include "tests/fakes/heap_count.h"
#include "tests/server/access/rules.h"

namespace mpsd {
namespace {

void* CryptoAllocate(std::size_t bytes, const char*, int) { return HeapCount::Allocate(bytes); }
void* CryptoReallocate(void* memory, std::size_t bytes, const char*, int) {
  return HeapCount::Reallocate(memory, bytes);
}
void CryptoFree(void* memory, const char*, int) { std::free(memory); }

// Only possible before the library's first allocation.
const int crypto_is_counted =
    CRYPTO_set_mem_functions(&CryptoAllocate, &CryptoReallocate, &CryptoFree);

TEST(GateAllocations, ThereAreNoneForACall) {
  ASSERT_EQ(crypto_is_counted, 1);
  Gate gate;
  gate.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"a_model_with_a_long_name"}),
                           CertificateRule("a.example", Role::kInfer)}));
  const std::array<absl::string_view, 1> names = {"a.example"};
  const Credentials shown[] = {
      {"Bearer ops-secret", false, {}}, {"Bearer wrong", false, {}}, {"", false, names}, {}};
  int allowed = 0;
  int allocations = 0;
  for (int round = 0; round < 3; ++round) {
    allocations = 0;
    for (const Credentials& credentials : shown) {
      const HeapCount counting(&allocations);
      Grant grant;
      const Verdict entered = gate.Enter(kModelInferAccess, credentials, &grant);
      const auto used = gate.MayUse(kModelInferAccess, grant, "a_model_with_a_long_name");
      allowed += entered == Verdict::kAllowed && used == Verdict::kAllowed ? 1 : 0;
    }
  }
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(allowed, 6);
}

TEST(GateAllocations, AreCounted) {
  int allocations = 0;
  {
    const HeapCount counting(&allocations);
    Gate gate;
    gate.SetRules(TestRules({}));
  }
  EXPECT_GT(allocations, 0);
}

}  // namespace
}  // namespace mpsd
