#include <dlfcn.h>
#include <grpcpp/grpcpp.h>

#include <atomic>

#include "absl/strings/match.h"
#include "server/accept/polling_threads.h"

namespace mpsd {
namespace {

std::atomic<bool> keeps_work{false};

}  // namespace

void KeepOnPollingThreads() {
  if (absl::StartsWith(grpc::Version(), "1.51.")) keeps_work = true;
}

}  // namespace mpsd

// Replaces `bool grpc_core::Executor::IsThreadedDefault()`, which has no public header. In one
// place gRPC 1.51 asks it whether a connection's work may go to the executor.
extern "C" bool MpsdMayUseExecutor() asm("_ZN9grpc_core8Executor17IsThreadedDefaultEv");

extern "C" bool MpsdMayUseExecutor() {
  using Asked = bool (*)();
  static const auto of_grpc =
      reinterpret_cast<Asked>(dlsym(RTLD_NEXT, "_ZN9grpc_core8Executor17IsThreadedDefaultEv"));
  return !mpsd::keeps_work && of_grpc != nullptr && of_grpc();
}
