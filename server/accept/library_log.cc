#include "server/accept/library_log.h"

#if __has_include(<google/protobuf/stubs/logging.h>)
#include <google/protobuf/stubs/logging.h>
#else
#include "absl/base/log_severity.h"
#include "absl/log/globals.h"
#endif

namespace mpsd {

#if __has_include(<google/protobuf/stubs/logging.h>)
void SilenceLibraries() { google::protobuf::SetLogHandler(nullptr); }
#else
// The threshold of stderr would count only once a program has called InitializeLog().
void SilenceLibraries() { absl::SetMinLogLevel(absl::LogSeverityAtLeast::kFatal); }
#endif

}  // namespace mpsd
