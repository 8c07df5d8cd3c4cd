#include "server/supervise/status_board.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"

namespace mpsd {
namespace {

constexpr absl::Duration kAskEvery = absl::Milliseconds(100);

}  // namespace

void StatusBoard::Open(const ServedModel& model) {
  absl::MutexLock lock(&mu_);
  Entry& entry = entries_[&model];
  entry.name = model.name;
  entry.version = model.version;
}

StatusBoard::Entry& StatusBoard::EntryOf(const ServedModel& model) {
  const auto found = entries_.find(&model);
  MPSD_CHECK(found != entries_.end());
  return found->second;
}

void StatusBoard::Publish(const ServedModel& model, const WorkerNote& note) {
  absl::MutexLock lock(&mu_);
  EntryOf(model).workers[note.info.index] = note;
}

void StatusBoard::Remove(const ServedModel& model, uint32_t worker) {
  absl::MutexLock lock(&mu_);
  EntryOf(model).workers.erase(worker);
}

void StatusBoard::PublishCircuit(const ServedModel& model, const char* circuit) {
  absl::MutexLock lock(&mu_);
  EntryOf(model).circuit = circuit;
}

void StatusBoard::PublishRetired(const ServedModel& model) {
  absl::MutexLock lock(&mu_);
  EntryOf(model).retired = true;
}

void StatusBoard::Forget(const ServedModel& model) {
  absl::MutexLock lock(&mu_);
  entries_.erase(&model);
}

void StatusBoard::NoteOutcome(const ServedModel& model, const absl::Status& status) {
  absl::MutexLock lock(&mu_);
  Entry& entry = EntryOf(model);
  if (!entry.settled.has_value()) entry.settled = status;
  entry.last_outcome = status;
}

void StatusBoard::FailMemory(const ServedModel& model, const absl::Status& status) {
  absl::MutexLock lock(&mu_);
  EntryOf(model).memory = status;
}

absl::Status StatusBoard::NothingFits() const {
  absl::Status first;
  for (const auto& [model, entry] : entries_) {
    if (entry.memory.ok() || !entry.settled.has_value() || entry.settled->ok()) {
      return absl::OkStatus();
    }
    if (first.ok()) first = entry.memory;
  }
  return first;
}

absl::Status StatusBoard::WaitUntilSettled(const std::function<bool()>& give_up) {
  while (!give_up()) {
    absl::MutexLock lock(&mu_);
    const auto all_settled = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      const auto settled = [](const auto& entry) { return entry.second.settled.has_value(); };
      return std::all_of(entries_.begin(), entries_.end(), settled);
    };
    if (mu_.AwaitWithTimeout(absl::Condition(&all_settled), kAskEvery)) return NothingFits();
  }
  return absl::OkStatus();
}

std::vector<std::string> StatusBoard::Unsettled() const {
  std::vector<std::string> names;
  absl::ReaderMutexLock lock(&mu_);
  for (const auto& [model, entry] : entries_) {
    if (!entry.settled.has_value()) names.push_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The outcome of all first starts; none while a worker is starting.
std::optional<absl::Status> StatusBoard::OutcomeOf(const Entry& entry) {
  if (!entry.settled.has_value() || !entry.settled->ok()) return entry.settled;
  const auto serves = [](const auto& worker) { return worker.second.serves; };
  if (std::all_of(entry.workers.begin(), entry.workers.end(), serves)) return absl::OkStatus();
  for (const auto& [index, note] : entry.workers) {
    if (note.info.last_exit.empty()) continue;
    return absl::InternalError(note.info.last_words.empty() ? note.info.last_exit
                                                            : note.info.last_words);
  }
  return std::nullopt;
}

absl::Status StatusBoard::WaitUntilServing(const ServedModel& model,
                                           const std::function<bool()>& give_up) {
  while (!give_up()) {
    absl::MutexLock lock(&mu_);
    const auto ended = [this, &model]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      const auto found = entries_.find(&model);
      return found == entries_.end() || OutcomeOf(found->second).has_value();
    };
    if (!mu_.AwaitWithTimeout(absl::Condition(&ended), kAskEvery)) continue;
    const auto found = entries_.find(&model);
    if (found == entries_.end()) break;
    return *OutcomeOf(found->second);
  }
  return absl::CancelledError("nobody waits for the model any more");
}

absl::Status StatusBoard::Fault(const ServedModel& model) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto found = entries_.find(&model);
  if (found == entries_.end()) return absl::OkStatus();
  const Entry& entry = found->second;
  const auto serves = [](const auto& worker) { return worker.second.serves; };
  if (std::any_of(entry.workers.begin(), entry.workers.end(), serves)) return absl::OkStatus();
  if (entry.circuit != "open") return entry.last_outcome;
  return absl::UnavailableError(absl::StrCat("its workers may not start for a while; the last: ",
                                             entry.last_outcome.message()));
}

std::vector<WorkerInfo> StatusBoard::Workers(const ServedModel& model) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto found = entries_.find(&model);
  return found == entries_.end() ? std::vector<WorkerInfo>() : WorkersOf(found->second);
}

std::vector<WorkerInfo> StatusBoard::WorkersOf(const Entry& entry) const {
  const int64_t now_ns = clock_->NowNs();
  std::vector<WorkerInfo> workers;
  for (const auto& [index, note] : entry.workers) {
    WorkerInfo& info = workers.emplace_back(note.info);
    if (note.starts_at_ns >= 0) {
      info.starts_in_ms = std::max<int64_t>(0, note.starts_at_ns - now_ns) / kNsPerMs;
    }
    if (info.pid == 0) continue;
    info.resident_bytes = platform::ResidentMemoryBytes(static_cast<pid_t>(info.pid));
    info.cpu_seconds = platform::CpuSeconds(static_cast<pid_t>(info.pid));
    info.uptime_ms = (now_ns - note.started_ns) / kNsPerMs;
  }
  return workers;
}

std::string StatusBoard::Circuit(const ServedModel& model) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto found = entries_.find(&model);
  return found == entries_.end() ? "" : found->second.circuit;
}

std::vector<OtherGeneration> StatusBoard::Others(const ServedModel& model) const {
  absl::ReaderMutexLock lock(&mu_);
  std::vector<OtherGeneration> others;
  for (const auto& [other, entry] : entries_) {
    if (other == &model || entry.name != model.name || entry.version != model.version) continue;
    others.push_back({entry.retired ? "draining" : "loading", WorkersOf(entry)});
  }
  return others;
}

}  // namespace mpsd
