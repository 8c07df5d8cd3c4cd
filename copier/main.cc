// mpsd-device-copier: copies between shared memory and memory of CUDA devices that clients have
// registered. One front end starts the copier, and never touches a device itself. The copier knows
// no requests and no clients: it carries out the orders of its control socket, one after another,
// and ends when the socket does.
//
// The copier opens handles that clients wrote. So, unless the sandbox is off, it first gives up
// what a worker on such a device gives up. The exception is files, because only the driver knows
// which it needs (docs/sandbox.md).

#include <unistd.h>

#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "copier/cuda_driver.h"
#include "copier/open_regions.h"
#include "proto/base/platform.h"
#include "proto/confine/own_rights.h"
#include "proto/link/copier_records.h"

namespace mpsd {
namespace {

constexpr int kControlFd = 3;
constexpr size_t kSegments = 2;

constexpr int kExitOk = 0;
constexpr int kExitBadOrder = 4;
constexpr int kExitDeviceLost = 5;

// Returns false when the front end is gone.
bool Receive(CopyOrder* order, std::vector<UniqueFd>* fds) {
  char bytes[sizeof(CopyOrder)];
  size_t have = 0;
  while (have < sizeof(bytes)) {
    const absl::StatusOr<size_t> got =
        platform::ReceiveWithFds(kControlFd, absl::MakeSpan(bytes).subspan(have), fds);
    if (!got.ok() || *got == 0) return false;
    have += *got;
  }
  std::memcpy(order, bytes, sizeof(bytes));
  return true;
}

bool Answer(const CopyOutcome& outcome) {
  char bytes[sizeof(outcome)];
  std::memcpy(bytes, &outcome, sizeof(bytes));
  return platform::SendWithFds(kControlFd, bytes, {}).ok();
}

// Called before any handle is opened, but after the driver runs: the driver may start a program
// that makes the device's nodes. Returns whether everything was given up.
bool Confine() {
  platform::HideMemory();
  absl::Status status = DropPrivileges();
  status.Update(SealCalls({}));
  return status.ok();
}

int Serve() {
  CopyOrder start;
  std::vector<UniqueFd> fds;
  if (!Receive(&start, &fds)) return kExitOk;
  if (start.verb != CopyVerb::kStart || fds.size() != kSegments) return kExitBadOrder;
  const absl::StatusOr<void*> inbox =
      platform::MapSharedMemory(fds[0].get(), start.bytes, /*writable=*/false);
  const absl::StatusOr<void*> outbox =
      platform::MapSharedMemory(fds[1].get(), start.bytes, /*writable=*/true);
  if (!inbox.ok() || !outbox.ok()) return kExitBadOrder;
  const absl::Span<const char> received(static_cast<const char*>(*inbox), start.bytes);
  const absl::Span<char> sent(static_cast<char*>(*outbox), start.bytes);

  CudaDriver driver;
  const DriverVerdict loaded = driver.Load();
  driver.PinMemory(received, /*read_only=*/true);
  driver.PinMemory(sent, /*read_only=*/false);
  CopyOutcome outcome{start.number, loaded.result, loaded.code,
                      static_cast<uint32_t>(driver.device_count())};
  outcome.is_confined = start.confines_itself != 0 && Confine();
  if (!Answer(outcome) || !loaded.ok()) return kExitOk;
  OpenRegions regions(&driver, received, sent);
  for (CopyOrder order; Receive(&order, &fds);) {
    const DriverVerdict verdict = regions.Perform(order);
    if (!Answer({order.number, verdict.result, verdict.code})) break;
    if (verdict.result == CopyResult::kLost) return kExitDeviceLost;
  }
  return kExitOk;
}

}  // namespace
}  // namespace mpsd

int main() {
  mpsd::platform::DieWithParent();
  mpsd::platform::DieFirstOfMemory();
  // Leaves without destructors, because the driver's threads may still be running.
  _exit(mpsd::Serve());
}
