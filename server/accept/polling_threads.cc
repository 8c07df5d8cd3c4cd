#include "server/accept/polling_threads.h"

#include <dlfcn.h>
#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>

#include "absl/strings/match.h"

namespace mpsd {

// void grpc_core::Executor::SetThreadingDefault(bool), which has no public header.
bool KeepOnPollingThreads() {
  if (!absl::StartsWith(grpc::Version(), "1.51.")) return false;
  constexpr char kName[] = "_ZN9grpc_core8Executor19SetThreadingDefaultEb";
  const auto set_threading = reinterpret_cast<void (*)(bool)>(dlsym(RTLD_DEFAULT, kName));
  if (set_threading == nullptr) return false;
  grpc_init();  // and never shut down, or its next beginning would make the executor anew
  set_threading(false);
  return true;
}

}  // namespace mpsd
