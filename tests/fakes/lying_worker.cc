// A worker that begins like mpsd-worker and then lies, for a model named "lie-NAME" or "liar-NAME".
// It takes mpsd-worker's place beside a copy of mpsd. For every other model, for workers other than
// the first, and after the second incarnation, or a liar's fifth, it becomes the honest one:
// mpsd-worker-honest, beside it.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "proto/base/platform.h"
#include "proto/link/messages.h"
#include "proto/shm/ring.h"
#include "tests/fakes/lies.h"
#include "worker/consume/attachment.h"
#include "worker/consume/batch_reader.h"
#include "worker/execute/batch_executor.h"
#include "worker/load/load_model.h"
#include "worker/model/model.h"

namespace mpsd {
namespace {

constexpr int kControlFd = 3;
constexpr uint32_t kLyingEpochs = 2;
// More than a request is dispatched, so that the lies are some request's ending.
constexpr uint32_t kLiarEpochs = 5;
constexpr size_t kFrameHeaderBytes = 12;
constexpr absl::string_view kPrefix = "lie-";
constexpr absl::string_view kLiarPrefix = "liar-";
// How long a flood lasts: as long as the test needs.
constexpr auto kFloodTime = std::chrono::seconds(2);

// Reads the first message without removing it from the socket, for the worker that will serve.
nlohmann::json PeekOrder() {
  std::string bytes(1 << 20, '\0');
  for (;;) {
    const ssize_t got = recv(kControlFd, bytes.data(), bytes.size(), MSG_PEEK);
    if (got <= 0) std::exit(0);
    uint32_t length = 0;
    if (static_cast<size_t>(got) >= kFrameHeaderBytes) {
      std::memcpy(&length, bytes.data() + 8, sizeof(length));
      if (static_cast<size_t>(got) >= kFrameHeaderBytes + length) {
        return nlohmann::json::parse(bytes.substr(kFrameHeaderBytes, length));
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

[[noreturn]] void BecomeHonest(char** argv) {
  const std::string honest = *platform::ExecutablePath() + "-honest";
  execv(honest.c_str(), argv);
  std::perror(honest.c_str());
  std::exit(1);
}

// The lie of this incarnation; empty for an honest one.
std::string LieOf(const nlohmann::json& order) {
  const std::string model = order["model"].get<std::string>();
  const std::string folder = std::getenv("TMPDIR");
  const bool first_worker = absl::StartsWith(folder.substr(folder.rfind('/') + 1), model + "-0");
  const bool is_liar = absl::StartsWith(model, kLiarPrefix);
  if ((!is_liar && !absl::StartsWith(model, kPrefix)) || !first_worker) return "";
  if (order["epoch"].get<uint32_t>() > (is_liar ? kLiarEpochs : kLyingEpochs)) return "";
  return model.substr((is_liar ? kLiarPrefix : kPrefix).size());
}

void SaySyscall(const char* what, bool succeeded) {
  std::fprintf(stderr, "lying worker: %s %s\n", what, succeeded ? "SUCCEEDED" : "was refused");
}

template <typename Step>
void Flood(Step step) {
  const auto until = std::chrono::steady_clock::now() + kFloodTime;
  while (std::chrono::steady_clock::now() < until) step();
}

[[noreturn]] void WaitForTheEnd() {
  for (;;) pause();
}

// Lives on the process's main thread; the floods have threads of their own.
class LyingWorker {
 public:
  explicit LyingWorker(std::string lie) : lie_(std::move(lie)) {}

  void Load();
  void Attach();
  void LieBeforeServing();
  void Serve();

 private:
  MessageReader::Received Receive();
  void SendRaw(const std::string& bytes);
  void AttackMemory();
  void ServeLane(uint32_t lane);
  void TakeBatch(uint32_t lane, RingConsumer* submitted, RingProducer* completed);

  const std::string lie_;
  MessageReader reader_;
  LoadOrder order_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Attachment> attachment_;
  std::vector<UniqueFd> fds_;  // the segments' descriptors, kept
  uint64_t worker_segment_bytes_ = 0;
  std::vector<std::thread> lanes_;
};

MessageReader::Received LyingWorker::Receive() {
  for (;;) {
    auto received = reader_.Read(kControlFd);
    if (received.ok()) return *std::move(received);
    if (!absl::IsOutOfRange(received.status())) std::exit(0);
  }
}

void LyingWorker::SendRaw(const std::string& bytes) {
  if (send(kControlFd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) WaitForTheEnd();
}

void LyingWorker::Load() {
  order_ = std::get<LoadOrder>(Receive().message);
  model_ = *LoadModel(order_);
  LoadReport report;
  report.spec = model_->spec();
  report.device = model_->traits().device;
  if (lie_ == "never_loads") WaitForTheEnd();
  if (lie_ == "spec_of_too_much") report.spec.max_batch_size = UINT32_MAX;
  if (lie_ == "spec_without_outputs") report.spec.outputs.clear();
  if (lie_ == "message_garbage") SendRaw(std::string(4096, '\xA5'));
  if (lie_ == "message_huge") SendRaw(std::string("MPSD\1\0\0\0\xFF\xFF\xFF\xFF", 12));
  if (lie_ == "message_nested") {
    const std::string body(1 << 20, '[');
    const uint32_t length = static_cast<uint32_t>(body.size());
    std::string frame("MPSD\1\0\0\0", 8);
    frame.append(reinterpret_cast<const char*>(&length), sizeof(length));
    SendRaw(frame + body);
  }
  if (lie_ == "message_half") {
    SendRaw(std::string("MPSD\1\0\0\0\x10\0\0\0{", 13));
    WaitForTheEnd();
  }
  if (lie_ == "ready_before_attach") SendMessage(kControlFd, Ready{}).IgnoreError();
  if (lie_ == "failure_without_leaving") {
    SendMessage(kControlFd, Failure{"it says that it leaves"}).IgnoreError();
    WaitForTheEnd();
  }
  SendMessage(kControlFd, report).IgnoreError();
  if (lie_ == "report_twice") SendMessage(kControlFd, report).IgnoreError();
}

void LyingWorker::Attach() {
  MessageReader::Received received = Receive();
  const auto order = std::get<AttachOrder>(received.message);
  for (const UniqueFd& fd : received.fds) fds_.emplace_back(dup(fd.get()));
  worker_segment_bytes_ = order.worker_segment_bytes;
  attachment_ = std::make_unique<Attachment>(
      *Attachment::Map(order, std::move(received.fds), order_.lanes, order_.epoch));
}

// Tries what the seals and the read-only descriptors prevent.
void LyingWorker::AttackMemory() {
  const int mailbox = fds_[0].get();
  const int own = fds_[1].get();
  const auto bytes = static_cast<off_t>(worker_segment_bytes_);
  const auto writable = [](int fd) {
    void* data = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return data != MAP_FAILED;
  };
  if (lie_ == "truncates") SaySyscall("truncating its segment", ftruncate(own, 0) == 0);
  if (lie_ == "grows") SaySyscall("growing its segment", ftruncate(own, bytes * 2) == 0);
  if (lie_ == "writes_the_mailbox") {
    SaySyscall("truncating the mailbox", ftruncate(mailbox, 0) == 0);
    SaySyscall("mapping the mailbox to write", writable(mailbox));
    const std::string path = absl::StrCat("/proc/self/fd/", mailbox);
    const UniqueFd again(open(path.c_str(), O_RDWR));
    SaySyscall("mapping the mailbox opened anew", again.valid() && writable(again.get()));
  }
  if (lie_ == "writes_the_slabs" && fds_.size() > 3) {
    SaySyscall("mapping the slabs to write", writable(fds_[3].get()));
    const std::string path = absl::StrCat("/proc/self/fd/", fds_[3].get());
    const UniqueFd again(open(path.c_str(), O_RDWR));
    SaySyscall("mapping the slabs opened anew", again.valid() && writable(again.get()));
  }
#ifdef FALLOC_FL_PUNCH_HOLE
  if (lie_ == "punches_holes") {
    fallocate(own, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, bytes);
  }
#endif
}

void LyingWorker::LieBeforeServing() {
  AttackMemory();
  if (lie_ == "never_ready") WaitForTheEnd();
  SendMessage(kControlFd, Ready{}).IgnoreError();
  if (lie_ == "ready_twice") SendMessage(kControlFd, Ready{}).IgnoreError();
  if (lie_ == "closes_the_socket") close(kControlFd);
  if (lie_ == "control_flood") {
    Flood([] { SendMessage(kControlFd, Ready{}).IgnoreError(); });
  }
  if (lie_ == "descriptor_flood") {
    const std::vector<int> many(16, 2);
    Flood([&many] { SendMessage(kControlFd, Ready{}, many).IgnoreError(); });
  }
  if (lie_ == "log_flood") {
    std::thread([] { Flood([] { std::fprintf(stderr, "a line of the flood\n"); }); }).detach();
  }
  if (lie_ == "log_line_without_end") {
    std::thread([] { Flood([] { std::fputs(std::string(4096, 'x').c_str(), stderr); }); }).detach();
  }
  if (lie_ == "bell_flood") {
    std::thread([this] {
      for (;;) platform::RingBell(attachment_->bell_fd());
    }).detach();
  }
}

void LyingWorker::TakeBatch(uint32_t lane, RingConsumer* submitted, RingProducer* completed) {
  const uint32_t slot = submitted->Peek();
  const BatchRecord& source = attachment_->mailbox(lane).records[slot];
  LaneReport* report = attachment_->report(lane);
  LaneReport* other = attachment_->report((lane + 1) % order_.lanes);
  CompletionRecord* record = &report->records[slot];
  Batch batch;
  if (!BatchReader(attachment_.get(), &model_->spec()).Read(source, &batch).ok()) std::exit(1);
  submitted->Pop();
  if (lie_ == "never_answers") return;
  if (lie_ == "dies") std::_Exit(1);
  BatchExecutor(lane, model_.get(), Clock::Real()).Execute(batch, record);
  SpoilRecord(lie_, batch, record);
  completed->Push(slot);
  SpoilRings(lie_, slot, report, other);
  platform::RingBell(attachment_->bell_fd());
}

void LyingWorker::ServeLane(uint32_t lane) {
  LaneReport* report = attachment_->report(lane);
  const LaneMailbox& mailbox = attachment_->mailbox(lane);
  RingConsumer submitted(mailbox.submit_entries, &mailbox.submit_tail, &report->submit_head);
  RingProducer completed(report->completion_entries, &report->completion_tail,
                         &mailbox.completion_head);
  for (;;) {
    // It does not sleep on the bell, which is a lie too, but looks at intervals.
    while (!submitted.Pending()) {
      report->heartbeat.fetch_add(1);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    TakeBatch(lane, &submitted, &completed);
  }
}

void LyingWorker::Serve() {
  for (uint32_t lane = 0; lane < order_.lanes; ++lane) {
    lanes_.emplace_back([this, lane] { ServeLane(lane); });
  }
  if (lie_ == "changes_the_record") {
    // Alternates between true and false as fast as it can, while the front end reads.
    OutputRecord* output = &attachment_->report(0)->records[0].outputs[0];
    std::thread([output] {
      Flood([output] {
        for (int i = 0; i < 1000; ++i) {
          __atomic_fetch_xor(&output->offset, uint64_t{1} << 40, __ATOMIC_RELAXED);
          __atomic_fetch_xor(&output->rank, 0x4000U, __ATOMIC_RELAXED);
        }
      });
    }).detach();
  }
  if (lie_ == "closes_the_socket") WaitForTheEnd();
  for (;;) {
    const absl::StatusOr<Message> answer = attachment_->Follow(Receive());
    if (answer.ok()) SendMessage(kControlFd, *answer).IgnoreError();
  }
}

}  // namespace
}  // namespace mpsd

int main(int, char** argv) {
  mpsd::platform::DieWithParent();
  const std::string lie = mpsd::LieOf(mpsd::PeekOrder());
  if (lie.empty()) mpsd::BecomeHonest(argv);
  mpsd::LyingWorker worker(lie);
  worker.Load();
  worker.Attach();
  worker.LieBeforeServing();
  worker.Serve();
}
