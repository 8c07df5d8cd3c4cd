#include "server/accept/polling_threads.h"

namespace mpsd {

// Homebrew's gRPC has no such executor.
void KeepOnPollingThreads() {}

}  // namespace mpsd
