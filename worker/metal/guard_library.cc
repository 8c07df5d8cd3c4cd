// libmpsd-driver-guard: the guard of the gpu's driver, for programs that are not mpsd's.
//
//   DYLD_INSERT_LIBRARIES=…/libmpsd-driver-guard.dylib MPSD_DRIVER_GUARD_REPORT=1 python3 -m app
//
// The loader runs Install() before the program's code. With the switch, stderr has a line at the
// start and one at the end, because other code may have replaced a method meanwhile:
//
//   mpsd-driver-guard: held
//   mpsd-driver-guard: held, 48210 calls
//   mpsd-driver-guard: missing: Metal has no device here
//
// A program without the guard runs on. macOS removes the variable for the system's own programs.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "worker/metal/encoder_guard.h"
#include "worker/metal/metal_guard.h"

namespace mpsd {
namespace {

using Guard = absl::StatusOr<std::unique_ptr<EncoderGuard>>;

// The driver's threads may end encoders while the process exits.
const Guard& ProcessGuard() {
  static const auto* const guard = new Guard(GuardMetal());
  return *guard;
}

void Report(const std::string& more) {
  const char* const wanted = std::getenv("MPSD_DRIVER_GUARD_REPORT");
  if (wanted == nullptr || *wanted == '\0') return;
  const Guard& guard = ProcessGuard();
  const absl::Status status = guard.ok() ? (*guard)->Verify() : guard.status();
  const std::string text =
      status.ok() ? absl::StrCat("held", more) : absl::StrCat("missing: ", status.message());
  std::fprintf(stderr, "mpsd-driver-guard: %s\n", text.c_str());
}

[[gnu::constructor]] void Install() {
  static_cast<void>(ProcessGuard());
  Report("");
}

[[gnu::destructor]] void ReportAtTheEnd() {
  const Guard& guard = ProcessGuard();
  if (guard.ok()) Report(absl::StrCat(", ", (*guard)->calls(), " calls"));
}

}  // namespace
}  // namespace mpsd
