#include "worker/model/runtime/runtime_detection.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace mpsd {
namespace {

constexpr char kImpl[] = "_ZN2at3mps13MPSStreamImpl11getInstanceEv";
constexpr char kPool[] = "_ZN2at3mps17getStreamFromPoolEv";
constexpr char kSynchronizeAll[] = "_ZN2at3mps24synchronizeAllMPSStreamsENS0_8SyncTypeE";
constexpr char kById[] = "_ZN2at3mps13getStreamByIDEx";
constexpr char kPatchedPool[] = "_ZN2at3mps13MPSStreamPool8instanceEv";

std::string KindOf(const std::set<std::string>& symbols) {
  return NameOf(DetectRuntimeKind([&](const char* symbol) { return symbols.count(symbol) > 0; }));
}

TEST(RuntimeKind, IsToldBySymbols) {
  EXPECT_EQ(KindOf({}), "stock") << "a libtorch without mps";
  EXPECT_EQ(KindOf({kImpl}), "stock") << "2.11";
  EXPECT_EQ(KindOf({kImpl, kPool, kSynchronizeAll}), "upstream_pool") << "2.14";
  EXPECT_EQ(KindOf({kImpl, kPool, kSynchronizeAll, kById}), "upstream_guard") << "2.15";
  EXPECT_EQ(KindOf({kPatchedPool}), "patched") << "2.9.1 with the stream pool";
}

}  // namespace
}  // namespace mpsd
