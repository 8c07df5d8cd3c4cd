// mpsd-worker: runs one model for the front end that started it, or answers by hand (describe.h).
//
// The main thread, in order:
//   1. LoadInSandbox() loads the model.
//   2. It compares the lanes and reports. If told to, it shares its weights with the model's other
//      workers, or uses theirs.
//   3. It maps the shared memory that the front end hands over.
//   4. It warms up the lanes one after another, and says that it is ready.
//   5. It maps and unmaps slab segments as the front end orders, until the control socket ends.
//
// Then the process exits at once. On mps the main thread is lane 0, and the thread "control" does
// step 5.

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "proto/base/clock.h"
#include "proto/base/failpoint.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"
#include "proto/link/messages.h"
#include "worker/consume/attachment.h"
#include "worker/consume/lane.h"
#include "worker/consume/run_gate.h"
#include "worker/execute/concurrency_check.h"
#include "worker/load/describe.h"
#include "worker/load/load_in_sandbox.h"
#include "worker/load/load_model.h"
#include "worker/model/model.h"

namespace mpsd {
namespace {

constexpr int kControlFd = 3;

constexpr int kExitOk = 0;
constexpr int kExitCannotServe = 3;
constexpr int kExitBadOrder = 4;

// The front end logs a failure that reaches it; any other goes to stderr.
int Refuse(const absl::Status& status, int exit_code, bool lasting = false) {
  const std::string text(status.message().substr(0, kWorkerLineBytes));
  const absl::Status told = SendMessage(kControlFd, Failure{text, lasting});
  if (!told.ok()) std::fprintf(stderr, "%s\n", text.c_str());
  return absl::IsDataLoss(status) ? kWorkerExitDeviceLost : exit_code;
}

// The socket is blocking.
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
  if (order == nullptr) return absl::InvalidArgumentError("an order that is not expected now");
  return std::make_pair(std::move(*order), std::move(received->fds));
}

using Lanes = std::vector<std::unique_ptr<Lane>>;

// On mps only the main thread's stream can commit work while it goes on encoding.
bool HasLaneOnMainThread(const Model& model) {
  return absl::StartsWith(model.traits().device, "mps");
}

// The order and the gate outlive the lanes. `warning` is from a lane whose warm-up the model
// refused.
absl::Status StartLanes(const LoadOrder& order, uint32_t count, const Attachment& attachment,
                        RunGate* gate, Model* model, Lanes* lanes, std::string* warning) {
  const LaneUpkeep::Options upkeep = {order.keep_warm_ns, order.warmup_samples,
                                      model->traits().gives_memory_back ? gate : nullptr};
  for (uint32_t i = 0; i < count; ++i) {
    lanes->push_back(std::make_unique<Lane>(i, &attachment, model, Clock::Real(), upkeep));
  }
  std::string told;  // most lanes have the same text
  // First runs compile code, which lanes must not do at once.
  for (const std::unique_ptr<Lane>& lane : *lanes) {
    const bool here = lane == lanes->front() && HasLaneOnMainThread(*model);
    if (!here) lane->Start(order.warmup, order.warmup_samples);
    absl::Status status =
        here ? lane->WarmUpHere(order.warmup, order.warmup_samples) : lane->WarmedUp();
    if (!status.ok()) return status;
    if (warning->empty()) *warning = lane->warning();
    if (lane->records() != told) {
      told = lane->records();
      std::fprintf(stderr, "records: %s\n", told.c_str());
    }
  }
  return absl::OkStatus();
}

// The lanes that the device and the runtime can bear and the self-check leaves; `why` says why
// fewer.
uint32_t DecideLanes(Model* model, const LoadOrder& order, std::string* why) {
  const uint32_t allowed = BearableLanes(*model, order.lanes, why);
  if (allowed < 2 || order.lanes_compared) return allowed;
  absl::Status check = absl::UnavailableError("its lanes were not compared: self_check is off");
  if (model->traits().wants_self_check) {
    ConcurrencyCheckOptions options;
    options.lane_on_main_thread = HasLaneOnMainThread(*model);
    check = CheckConcurrency(model, allowed, options);
    if (check.ok()) return allowed;
    std::fprintf(stderr, "self-check: %s\n", std::string(check.message()).c_str());
  }
  const uint32_t left = LanesAfter(check, allowed, model->traits().needs_self_check);
  if (left < allowed) *why = std::string(check.message());
  return left;
}

LoadReport Report(Model* model, const LoadOrder& order) {
  const ModelTraits& traits = model->traits();
  LoadReport report;
  report.spec = model->spec();
  report.device = traits.device;
  report.lanes = DecideLanes(model, order, &report.demotion);
  report.labels = traits.labels;
  report.precision = traits.precision;
  report.precision_note = traits.precision_note;
  report.runtime = {RuntimeName(), LoadedRuntimeKindName(), LoadedRuntimePath(),
                    GuardOfDriver(traits.device), traits.input_memory};
  report.weight_bytes = model->weights() == nullptr ? 0 : model->weights()->bytes();
  return report;
}

// Registers a slab segment with the model's device before its first batch, until after its last.
absl::StatusOr<Message> Follow(MessageReader::Received order, Attachment* attachment,
                               ModelMemory* memory) {
  const auto* removed = std::get_if<SlabsRemoved>(&order.message);
  if (removed != nullptr) {
    const absl::Span<const char> segment = attachment->SlabSegment(removed->number);
    if (!segment.empty() && memory != nullptr) memory->UnregisterMemory(segment.data());
  }
  const auto* added = std::get_if<SlabsAdded>(&order.message);
  const uint32_t number = added != nullptr ? added->number : kMaxSlabSegments;
  absl::StatusOr<Message> answer = attachment->Follow(std::move(order));
  if (!answer.ok() || number == kMaxSlabSegments) return answer;
  const absl::Span<const char> segment = attachment->SlabSegment(number);
  if (memory != nullptr) memory->RegisterMemory(segment.data(), segment.size());
  return answer;
}

// Lanes may be in the middle of a batch at the end, but nobody waits for it: no destructors run.
[[noreturn]] void FollowFrontEnd(MessageReader* reader, Attachment* attachment,
                                 ModelMemory* memory) {
  attachment->BindFollower();
  for (auto received = Receive(reader); received.ok(); received = Receive(reader)) {
    const absl::StatusOr<Message> answer = Follow(*std::move(received), attachment, memory);
    if (!answer.ok()) _exit(Refuse(answer.status(), kExitBadOrder));
    if (!SendMessage(kControlFd, *answer).ok()) break;
  }
  _exit(kExitOk);
}

UniqueFd FileOf(std::vector<UniqueFd> fds) {
  return fds.empty() ? UniqueFd() : std::move(fds.front());
}

// The second is the memory to send along.
std::pair<WeightsTold, UniqueFd> TellWeights(MessageReader::Received order,
                                             ShareableWeights* weights) {
  MPSD_FAILPOINT("worker.at_weights");
  absl::StatusOr<UniqueFd> memory;
  if (std::holds_alternative<ShareWeights>(order.message)) {
    memory = weights->Share();
  } else {
    const absl::Status used = weights->Use(FileOf(std::move(order.fds)));
    memory = used.ok() ? absl::StatusOr<UniqueFd>(UniqueFd()) : used;
  }
  if (memory.ok()) return std::pair(WeightsTold{weights->bytes()}, *std::move(memory));
  return std::pair(WeightsTold{0, std::string(memory.status().message())}, UniqueFd());
}

// Carries out orders about the weights, until the order to attach comes.
absl::StatusOr<std::pair<AttachOrder, std::vector<UniqueFd>>> ExpectAttach(
    MessageReader* reader, ShareableWeights* weights) {
  for (;;) {
    absl::StatusOr<MessageReader::Received> received = Receive(reader);
    if (!received.ok()) return received.status();
    if (auto* attach = std::get_if<AttachOrder>(&received->message)) {
      return std::make_pair(std::move(*attach), std::move(received->fds));
    }
    const bool is_of_weights = std::holds_alternative<ShareWeights>(received->message) ||
                               std::holds_alternative<UseWeights>(received->message);
    if (!is_of_weights || weights == nullptr) {
      return absl::InvalidArgumentError("an order that is not expected now");
    }
    const auto [told, memory] = TellWeights(*std::move(received), weights);
    const std::vector<int> fds =
        memory.valid() ? std::vector<int>{memory.get()} : std::vector<int>{};
    if (absl::Status sent = SendMessage(kControlFd, told, fds); !sent.ok()) return sent;
  }
}

// Whether the parent has ended before DieWithParent() took effect: loading libtorch takes a while.
// By hand there is no such socket.
bool HasHungUp() {
  pollfd control{kControlFd, 0, 0};
  return poll(&control, 1, 0) > 0 && (control.revents & POLLHUP) != 0;
}

int Serve() {
  MessageReader reader;
  auto load = Expect<LoadOrder>(&reader);
  if (!load.ok()) return kExitBadOrder;
  const LoadOrder& order = load->first;
  if (order.lanes == 0 || order.lanes > kMaxLanes) return kExitBadOrder;

  absl::StatusOr<std::unique_ptr<Model>> model = LoadInSandbox(order, std::move(load->second));
  if (!model.ok()) return Refuse(model.status(), kExitCannotServe, IsLasting(model.status()));
  const LoadReport report = Report(model->get(), order);
  MPSD_FAILPOINT("worker.before_report");
  if (!SendMessage(kControlFd, report).ok()) return kExitOk;

  auto attach = ExpectAttach(&reader, (*model)->weights());
  if (!attach.ok()) return absl::IsUnavailable(attach.status()) ? kExitOk : kExitBadOrder;
  absl::StatusOr<Attachment> attachment =
      Attachment::Map(attach->first, std::move(attach->second), report.lanes, order.epoch);
  if (!attachment.ok()) return Refuse(attachment.status(), kExitBadOrder);
  ModelMemory* const memory = (*model)->memory();
  for (uint32_t number = 0; memory != nullptr && number < kMaxSlabSegments; ++number) {
    const absl::Span<const char> segment = attachment->SlabSegment(number);
    if (!segment.empty()) memory->RegisterMemory(segment.data(), segment.size());
  }
  const absl::Span<char> outputs = attachment->OutputArea();
  if (memory != nullptr) memory->RegisterOutputMemory(outputs.data(), outputs.size());

  MPSD_FAILPOINT("worker.after_attach");
  RunGate gate;
  Lanes lanes;
  Ready ready;
  const absl::Status started =
      StartLanes(order, report.lanes, *attachment, &gate, model->get(), &lanes, &ready.warning);
  if (!started.ok()) {
    const int code = Refuse(started, kExitCannotServe, IsLasting(started));
    _exit(code);
  }
  MPSD_FAILPOINT("worker.before_ready");
  if (!SendMessage(kControlFd, ready).ok()) _exit(kExitOk);
  if (!HasLaneOnMainThread(**model)) FollowFrontEnd(&reader, &*attachment, memory);
  std::thread([&] {
    platform::NameThread("control");
    FollowFrontEnd(&reader, &*attachment, memory);
  }).detach();
  lanes.front()->RunHere();
}

}  // namespace
}  // namespace mpsd

int main(int argc, char** argv) {
  mpsd::platform::DieWithParent();
  if (mpsd::HasHungUp()) return mpsd::kExitOk;
  if (argc > 1) return mpsd::Describe(argc, argv);
  std::signal(SIGXFSZ, SIG_IGN);  // a model that writes too large a file gets an error
  mpsd::platform::DieFirstOfMemory();
  const int exit_code = mpsd::Serve();
  // Tools that run at exit, such as leak checkers, make calls that the sandbox denies.
  std::fflush(nullptr);
  _exit(exit_code);
}
