#include "worker/model/runtime/runtime_detection.h"

namespace mpsd {
namespace {

// Mangled; only one kind of libtorch has each. The first is from worker/libtorch.
constexpr const char* kPatchedPool = "_ZN2at3mps13MPSStreamPool8instanceEv";
constexpr const char* kUpstreamPool = "_ZN2at3mps17getStreamFromPoolEv";
constexpr const char* kUpstreamStreamById = "_ZN2at3mps13getStreamByIDEx";

}  // namespace

RuntimeKind DetectRuntimeKind(SymbolLookup has_symbol) {
  if (has_symbol(kPatchedPool)) return RuntimeKind::kPatched;
  if (has_symbol(kUpstreamStreamById)) return RuntimeKind::kUpstreamGuard;
  if (has_symbol(kUpstreamPool)) return RuntimeKind::kUpstreamPool;
  return RuntimeKind::kStock;
}

}  // namespace mpsd
