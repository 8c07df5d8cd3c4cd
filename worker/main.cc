// mpsd-worker: runs one model for one front end. It is started by mpsd, never by hand.
//
// Order: the main thread enters the sandbox, starts the runtime and the device (and so is the first
// to touch it), seals the sandbox, loads the model, whose file is code, maps the shared memory,
// starts the lanes, waits until all are warm, says so, and then maps and unmaps slab segments as it
// is told, until the end of the control socket, which is the end of the front end, and so its own.

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "proto/base/clock.h"
#include "proto/base/failpoint.h"
#include "proto/base/platform.h"
#include "proto/link/messages.h"
#include "worker/consume/attachment.h"
#include "worker/consume/lane.h"
#include "worker/model/model.h"
#include "worker/sandbox/sandbox.h"

namespace mpsd {
namespace {

constexpr int kControlFd = 3;

// Exit codes that the supervisor tells apart.
constexpr int kExitOk = 0;
constexpr int kExitCannotServe = 3;
constexpr int kExitBadOrder = 4;

int Refuse(const absl::Status& status, int exit_code) {
  const std::string text(status.message());
  std::fprintf(stderr, "%s\n", text.c_str());
  SendMessage(kControlFd, Failure{text}).IgnoreError();
  return exit_code;
}

// The next message, whole; the socket is blocking.
absl::StatusOr<MessageReader::Received> Receive(MessageReader* reader) {
  for (;;) {
    absl::StatusOr<MessageReader::Received> received = reader->Read(kControlFd);
    if (!absl::IsOutOfRange(received.status())) return received;
  }
}

template <typename T>
absl::StatusOr<std::pair<T, std::vector<UniqueFd>>> Expect(MessageReader* reader) {
  absl::StatusOr<MessageReader::Received> received = Receive(reader);
  if (!received.ok()) return received.status();
  T* order = std::get_if<T>(&received->message);
  if (order == nullptr) return absl::InvalidArgumentError("an order out of turn");
  return std::make_pair(std::move(*order), std::move(received->fds));
}

absl::Status StartLanes(const LoadOrder& order, const Attachment& attachment, Model* model,
                        std::vector<std::unique_ptr<Lane>>* lanes) {
  for (uint32_t i = 0; i < order.lanes; ++i) {
    lanes->push_back(std::make_unique<Lane>(i, &attachment, model, Clock::Real()));
  }
  // One lane after the other: first calls compile, and compiling is not what to race at.
  for (const std::unique_ptr<Lane>& lane : *lanes) {
    lane->Start(order.warmup);
    if (absl::Status status = lane->WarmedUp(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Nothing of the model is looked at before the sandbox is whole.
absl::StatusOr<std::unique_ptr<Model>> LoadInSandbox(const LoadOrder& order) {
  absl::StatusOr<SandboxOptions> options = Sandbox::OptionsOf(order);
  if (!options.ok()) return options.status();
  const absl::StatusOr<Sandbox> sandbox = Sandbox::Enter(*std::move(options));
  if (!sandbox.ok()) return sandbox.status();
  if (absl::Status status = StartRuntime(order); !status.ok()) return status;
  if (absl::Status status = sandbox->Seal(); !status.ok()) return status;
  MPSD_FAILPOINT("worker.at_load");
  return LoadModel(order);
}

int Serve() {
  MessageReader reader;
  auto load = Expect<LoadOrder>(&reader);
  if (!load.ok()) return kExitBadOrder;
  const LoadOrder& order = load->first;
  if (order.lanes == 0 || order.lanes > kMaxLanes) return kExitBadOrder;

  absl::StatusOr<std::unique_ptr<Model>> model = LoadInSandbox(order);
  if (!model.ok()) return Refuse(model.status(), kExitCannotServe);
  LoadReport report;
  report.spec = (*model)->spec();
  report.device = (*model)->device();
  report.runtime = RuntimeName();
  report.resident_bytes = platform::ResidentMemoryBytes(getpid());
  MPSD_FAILPOINT("worker.before_report");
  if (!SendMessage(kControlFd, report).ok()) return kExitOk;

  auto attach = Expect<AttachOrder>(&reader);
  if (!attach.ok()) return absl::IsUnavailable(attach.status()) ? kExitOk : kExitBadOrder;
  absl::StatusOr<Attachment> attachment =
      Attachment::Map(attach->first, std::move(attach->second), order.lanes, order.epoch);
  if (!attachment.ok()) return Refuse(attachment.status(), kExitBadOrder);

  MPSD_FAILPOINT("worker.after_attach");
  const int64_t begin_ns = Clock::Real()->NowNs();
  std::vector<std::unique_ptr<Lane>> lanes;
  if (absl::Status status = StartLanes(order, *attachment, model->get(), &lanes); !status.ok()) {
    const int code = Refuse(status, kExitCannotServe);
    _exit(code);
  }
  MPSD_FAILPOINT("worker.before_ready");
  if (!SendMessage(kControlFd, Ready{Clock::Real()->NowNs() - begin_ns}).ok()) _exit(kExitOk);
  for (auto received = Receive(&reader); received.ok(); received = Receive(&reader)) {
    const absl::StatusOr<Message> answer = attachment->Follow(*std::move(received));
    if (!answer.ok()) _exit(Refuse(answer.status(), kExitBadOrder));
    if (!SendMessage(kControlFd, *answer).ok()) break;
  }
  // Lanes may be in the middle of a batch that nobody waits for: leave without destructors.
  _exit(kExitOk);
}

}  // namespace
}  // namespace mpsd

int main() {
  mpsd::platform::DieWithParent();
  mpsd::platform::DieFirstOfMemory();
  const int exit_code = mpsd::Serve();
  // What a tool does at exit, such as looking for leaks, takes calls that the sandbox denies.
  std::fflush(nullptr);
  _exit(exit_code);
}
