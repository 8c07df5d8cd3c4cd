#include "server/regions/device/device_copies.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "proto/base/backoff_policy.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

constexpr int64_t kGoneWithinNs = kNsPerSecond;

int64_t NowNs() { return Clock::Real()->NowNs(); }

absl::Status Lost() {
  return absl::UnavailableError("CUDA shared memory cannot be reached at the moment; try again");
}

absl::Status Stopped() { return absl::UnavailableError("Server exiting"); }

std::string AbsenceText(CopyResult result) {
  return absl::StrCat("CUDA shared memory regions are not supported by this server: there is no ",
                      result == CopyResult::kNoDriver ? "CUDA driver" : "CUDA device",
                      " on its host");
}

absl::Status StatusOf(const CopyOutcome& outcome) {
  switch (outcome.result) {
    case CopyResult::kDone:
      return absl::OkStatus();
    case CopyResult::kBadDevice:
      return absl::InvalidArgumentError("there is no such device");
    case CopyResult::kBadHandle:
      return absl::InvalidArgumentError("failed to open CUDA IPC handle");
    case CopyResult::kTooSmall:
      return absl::InvalidArgumentError("its allocation is smaller than byte size says");
    case CopyResult::kFailed:
      return absl::InvalidArgumentError(absl::StrCat(
          "CUDA shared memory could not be copied: error ", outcome.driver_code, " of the driver"));
    case CopyResult::kLost:
      return Lost();
    case CopyResult::kNoDriver:
    case CopyResult::kNoDevice:
    case CopyResult::kBadOrder:
      break;
  }
  return absl::InternalError("CUDA shared memory could not be copied");
}

}  // namespace

absl::Status DeviceCopies::Start() {
  absl::StatusOr<platform::Poller> poller = platform::Poller::Create();
  if (!poller.ok()) return poller.status();
  absl::StatusOr<platform::Bell> bell = platform::CreateBell();
  if (!bell.ok()) return bell.status();
  waiter_.poller = *std::move(poller);
  waiter_.bell = *std::move(bell);
  absl::Status status = waiter_.poller.AddReadable(waiter_.bell.poll_fd.get(), CopierWaiter::kBell);
  if (!status.ok()) return status;
  thread_ = std::thread([this] { Main(); });
  return absl::OkStatus();
}

DeviceCopies::~DeviceCopies() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void DeviceCopies::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  waiter_.stopping = true;
  if (thread_.joinable()) platform::RingBell(waiter_.bell.ring_fd.get());
}

absl::Status DeviceCopies::Enqueue(std::function<void()> task) {
  {
    absl::MutexLock lock(&mu_);
    if (stopping_) return Stopped();
    if (tasks_.size() >= options_.tasks) {
      return Busy("too many requests wait for CUDA shared memory");
    }
    pending_.fetch_add(1, std::memory_order_relaxed);
    tasks_.push_back(std::move(task));
  }
  platform::RingBell(waiter_.bell.ring_fd.get());
  return absl::OkStatus();
}

void DeviceCopies::Close(uint64_t region) {
  {
    absl::MutexLock lock(&mu_);
    closed_.push_back(region);
  }
  platform::RingBell(waiter_.bell.ring_fd.get());
}

// False: no task will come. `idle`: nothing else is to do either.
bool DeviceCopies::TakeTask(std::function<void()>* task, bool* idle) {
  absl::MutexLock lock(&mu_);
  *task = nullptr;
  *idle = tasks_.empty() && closed_.empty();
  if (tasks_.empty()) return !stopping_;
  *task = std::move(tasks_.front());
  tasks_.pop_front();
  return true;
}

// A wait for the copier may clear the bell, so each sleep looks for its reasons first.
void DeviceCopies::Main() {
  platform::NameThread("device-copies");
  std::function<void()> task;
  for (;;) {
    const int64_t timeout_ns = KeepAlive();
    CloseRegions();
    bool idle = false;
    if (!TakeTask(&task, &idle)) break;
    if (idle) {
      Sleep(timeout_ns);
    } else if (task != nullptr) {
      task();
      task = nullptr;  // the content goes before the task counts as done
      pending_.fetch_sub(1, std::memory_order_release);
    }
  }
  EndProcess();
}

// The copier has no order now: anything it says is an error.
void DeviceCopies::Sleep(int64_t timeout_ns) {
  const std::vector<uint64_t>& tokens = waiter_.Wait(timeout_ns);
  const bool ended = absl::c_linear_search(tokens, CopierWaiter::kExit);
  if (process_ == nullptr || dying_) return;
  if (ended || absl::c_linear_search(tokens, CopierWaiter::kSocket)) {
    Lose(absl::UnavailableError(ended ? "it has ended" : "it has hung up, or speaks out of turn"));
  }
}

void DeviceCopies::EndProcess() {
  ready_ = false;
  if (process_ == nullptr) return;
  process_->Kill();
  if (process_->WaitUntilGone(kGoneWithinNs)) {
    process_.reset();
    return;
  }
  // A device holds the process, which nobody waits for.
  logger_->Log(LogLevel::kError, "device_copier_stuck", {{"pid", process_->pid()}});
  static_cast<void>(process_.release());
}

void DeviceCopies::CloseRegions() {
  std::vector<uint64_t> closed;
  {
    absl::MutexLock lock(&mu_);
    closed.swap(closed_);
  }
  for (const uint64_t number : closed) {
    const auto found = regions_.find(number);
    if (found == regions_.end()) continue;
    const bool open = process_ != nullptr && !dying_ && found->second.opened_in == incarnation_;
    regions_.erase(found);
    if (!open) continue;
    CopyOrder order;
    order.verb = CopyVerb::kClose;
    order.region = number;
    Copy(order, options_.copy_ns).IgnoreError();
  }
}

// Returns the time until the next step is due.
int64_t DeviceCopies::KeepAlive() {
  if (waiter_.stopping) return -1;
  if (process_ != nullptr && !dying_ && process_->HasEnded()) {
    Lose(absl::UnavailableError("it has ended"));
  }
  if (dying_ && process_->WaitUntilGone(0)) Forget();
  if (process_ != nullptr) return dying_ ? kGoneWithinNs : -1;
  if (!absent_.empty()) return -1;
  const int64_t wait_ns = next_start_ns_ - NowNs();
  if (wait_ns > 0) return wait_ns;
  StartProcess();
  return process_ == nullptr && absent_.empty() ? 0 : -1;
}

void DeviceCopies::Forget() {
  process_.reset();
  dying_ = false;
}

// The copier is forgotten now, or when it is gone.
void DeviceCopies::KillProcess() {
  if (process_ == nullptr) return;
  process_->Kill();
  dying_ = true;
  if (process_->WaitUntilGone(kGoneWithinNs)) Forget();
}

void DeviceCopies::StartProcess() {
  ++incarnation_;
  started_ns_ = NowNs();
  absl::StatusOr<std::unique_ptr<CopierProcess>> process =
      CopierProcess::Spawn(options_.process, &waiter_);
  if (!process.ok()) return Lose(process.status());
  process_ = *std::move(process);
  CopyOrder order;
  order.bytes = kCopierSegmentBytes;
  order.confines_itself = options_.sandbox != SandboxLevel::kOff;
  Spawned(process_->Do(order, options_.start_ns));
}

void DeviceCopies::Spawned(const absl::StatusOr<CopyOutcome>& outcome) {
  if (!outcome.ok()) return Lose(outcome.status());
  const CopyResult result = outcome->result;
  if (result == CopyResult::kNoDriver || result == CopyResult::kNoDevice) {
    absent_ = AbsenceText(result);
    logger_->Log(LogLevel::kWarn, "device_copier_not_needed", {{"reason", absent_}});
    return KillProcess();
  }
  if (result != CopyResult::kDone) {
    return Lose(absl::UnavailableError(
        absl::StrCat("the driver does not start: error ", outcome->driver_code)));
  }
  if (options_.sandbox != SandboxLevel::kOff && outcome->is_confined == 0) {
    logger_->Log(LogLevel::kWarn, "device_copier_not_confined", {{"pid", process_->pid()}});
    if (options_.sandbox == SandboxLevel::kStrict) {
      absent_ = "CUDA shared memory regions are not supported by this server: its copier is unsafe";
      return KillProcess();
    }
  }
  ready_ = true;
  logger_->Log(LogLevel::kInfo, "device_copier_started",
               {{"pid", process_->pid()}, {"devices", outcome->devices}});
}

void DeviceCopies::Lose(const absl::Status& why) {
  if (waiter_.stopping) return;
  failures_ = NowNs() - started_ns_ > kGoodServiceNs ? 1 : failures_ + 1;
  next_start_ns_ = NowNs() + BackoffNs(failures_, /*jitter=*/0);
  metrics_->device_copier_deaths.fetch_add(1, std::memory_order_relaxed);
  logger_->Log(LogLevel::kError, "device_copier_lost",
               {{"reason", std::string(why.message())}, {"failures", failures_}});
  KillProcess();
}

absl::Status DeviceCopies::Usable() const {
  if (waiter_.stopping) return Stopped();
  if (!absent_.empty()) return absl::UnimplementedError(absent_);
  return process_ != nullptr && !dying_ ? absl::OkStatus() : Lost();
}

absl::Status DeviceCopies::Copy(CopyOrder order, int64_t timeout_ns) {
  if (absl::Status status = Usable(); !status.ok()) return status;
  const absl::StatusOr<CopyOutcome> outcome = process_->Do(order, timeout_ns);
  if (outcome.ok() && outcome->result != CopyResult::kLost) return Tell(*outcome);
  if (waiter_.stopping) return Stopped();
  Lose(outcome.ok() ? absl::UnavailableError(
                          absl::StrCat("the device is lost to it: error ", outcome->driver_code))
                    : outcome.status());
  return Lost();
}

// The log gets details that the client is not told.
absl::Status DeviceCopies::Tell(const CopyOutcome& outcome) const {
  absl::Status status = StatusOf(outcome);
  if (!status.ok()) {
    logger_->Log(LogLevel::kWarn, "device_copy_refused",
                 {{"reason", std::string(status.message())}, {"driver_code", outcome.driver_code}});
  }
  return status;
}

absl::Status DeviceCopies::OpenRegion(uint64_t number, Region* region) {
  if (region->opened_in == incarnation_) return absl::OkStatus();
  CopyOrder order;
  order.verb = CopyVerb::kOpen;
  order.region = number;
  order.device = region->memory.device;
  order.bytes = region->memory.bytes;
  std::memcpy(order.handle, region->memory.handle.data(), sizeof(order.handle));
  absl::Status status = Copy(order, options_.open_ns);
  if (status.ok()) region->opened_in = incarnation_;
  return status;
}

absl::StatusOr<uint64_t> DeviceCopies::Open(const DeviceMemory& memory) {
  MPSD_CHECK(memory.handle.size() == kDeviceHandleBytes);
  Region region{memory};
  const uint64_t number = ++last_region_;
  if (absl::Status status = OpenRegion(number, &region); !status.ok()) return status;
  regions_.emplace(number, std::move(region));
  return number;
}

absl::Status DeviceCopies::Read(uint64_t region, uint64_t offset, absl::Span<char> target) {
  if (absl::Status status = Usable(); !status.ok()) return status;
  if (absl::Status status = OpenRegion(region, &regions_.at(region)); !status.ok()) return status;
  while (!target.empty()) {
    CopyOrder order;
    order.verb = CopyVerb::kRead;
    order.region = region;
    order.offset = offset;
    order.bytes = std::min<uint64_t>(target.size(), kCopierSegmentBytes);
    if (absl::Status status = Copy(order, options_.copy_ns); !status.ok()) return status;
    std::memcpy(target.data(), process_->read_bytes().data(), order.bytes);
    target.remove_prefix(order.bytes);
    offset += order.bytes;
  }
  return absl::OkStatus();
}

absl::Status DeviceCopies::Write(uint64_t region, uint64_t offset, absl::Span<const char> source) {
  if (absl::Status status = Usable(); !status.ok()) return status;
  if (absl::Status status = OpenRegion(region, &regions_.at(region)); !status.ok()) return status;
  while (!source.empty()) {
    CopyOrder order;
    order.verb = CopyVerb::kWrite;
    order.region = region;
    order.offset = offset;
    order.bytes = std::min<uint64_t>(source.size(), kCopierSegmentBytes);
    std::memcpy(process_->bytes_to_write().data(), source.data(), order.bytes);
    if (absl::Status status = Copy(order, options_.copy_ns); !status.ok()) return status;
    source.remove_prefix(order.bytes);
    offset += order.bytes;
  }
  return absl::OkStatus();
}

}  // namespace mpsd
