#include "proto/base/platform.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace mpsd::platform {
namespace {

constexpr int64_t kLongNs = 60LL * 1'000'000'000;  // never reached by a test that passes
constexpr int64_t kShortNs = 1'000'000;

// A word in shared memory, mapped twice: as its writer sees it and as a reading peer does.
class TwoMappings {
 public:
  TwoMappings() {
    absl::StatusOr<SharedMemory> memory =
        CreateSharedMemory(PageBytes(), SharedMemoryWriter::kCreator);
    if (!memory.ok()) return;
    memory_ = *std::move(memory);
    absl::StatusOr<void*> peer = MapSharedMemory(memory_.readonly_fd.get(), PageBytes(), false);
    if (peer.ok()) peer_ = *peer;
  }
  ~TwoMappings() {
    UnmapSharedMemory(memory_.data, PageBytes());
    if (peer_ != nullptr) UnmapSharedMemory(peer_, PageBytes());
  }

  bool valid() const { return memory_.data != nullptr && peer_ != nullptr; }
  std::atomic<uint32_t>* writer() { return static_cast<std::atomic<uint32_t>*>(memory_.data); }
  const std::atomic<uint32_t>* reader() { return static_cast<std::atomic<uint32_t>*>(peer_); }

 private:
  SharedMemory memory_;
  void* peer_ = nullptr;
};

bool Readable(int fd) {
  pollfd waited{fd, POLLIN, 0};
  return poll(&waited, 1, 0) == 1;
}

bool ClosesOnExec(int fd) { return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

// Everything that comes out of `fd` until its last writer closed it.
std::string ReadToEnd(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, count);
  return text;
}

struct Finished {
  std::string output;
  int status = -1;
};

// Runs `script` in /bin/sh as a worker would run: with `control` as descriptor 3.
Finished RunShell(const std::string& script, UniqueFd control,
                  std::vector<std::string> environment = {"PATH=/usr/bin:/bin"}) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  UniqueFd from_child(ends[0]);
  SpawnOptions options;
  options.path = "/bin/sh";
  options.arguments = {"-c", script};
  options.environment = std::move(environment);
  options.control_fd = std::move(control);
  options.output_fd = UniqueFd(ends[1]);
  const absl::StatusOr<pid_t> pid = Spawn(std::move(options));
  if (!pid.ok()) return {pid.status().ToString(), -1};
  Finished finished;
  finished.output = ReadToEnd(from_child.get());
  waitpid(*pid, &finished.status, 0);
  return finished;
}

TEST(SharedMemory, ReadingPeerSeesWhatTheCreatorWrites) {
  TwoMappings mappings;
  ASSERT_TRUE(mappings.valid());
  mappings.writer()->store(7);
  EXPECT_EQ(mappings.reader()->load(), 7u);
}

TEST(SharedMemory, IsZeroAtFirst) {
  const uint64_t bytes = 3 * PageBytes();
  SharedMemory memory = CreateSharedMemory(bytes, SharedMemoryWriter::kCreator).value();
  EXPECT_EQ(memory.bytes, bytes);
  const char* data = static_cast<const char*>(memory.data);
  for (uint64_t i = 0; i < bytes; ++i) ASSERT_EQ(data[i], 0) << i;
  UnmapSharedMemory(memory.data, bytes);
}

TEST(SharedMemory, ReadingPeerCannotMapItWritable) {
  SharedMemory memory = CreateSharedMemory(PageBytes(), SharedMemoryWriter::kCreator).value();
  EXPECT_FALSE(MapSharedMemory(memory.readonly_fd.get(), PageBytes(), true).ok());
  UnmapSharedMemory(memory.data, PageBytes());
}

TEST(SharedMemory, ReadingPeerCannotMakeItsMappingWritable) {
  TwoMappings mappings;
  ASSERT_TRUE(mappings.valid());
  void* page = const_cast<std::atomic<uint32_t>*>(mappings.reader());
  EXPECT_NE(mprotect(page, PageBytes(), PROT_READ | PROT_WRITE), 0);
}

#if defined(__linux__)
TEST(SharedMemory, SealLetsNobodyMapTheCreatorsMemoryWritableAgain) {
  SharedMemory memory = CreateSharedMemory(PageBytes(), SharedMemoryWriter::kCreator).value();
  EXPECT_FALSE(MapSharedMemory(memory.writable_fd.get(), PageBytes(), true).ok());
  EXPECT_EQ(write(memory.writable_fd.get(), "x", 1), -1);
  UnmapSharedMemory(memory.data, PageBytes());
}
#endif

TEST(SharedMemory, WritingPeerCanMapItWritable) {
  SharedMemory memory = CreateSharedMemory(PageBytes(), SharedMemoryWriter::kPeer).value();
  void* peer = MapSharedMemory(memory.writable_fd.get(), PageBytes(), true).value();
  *static_cast<char*>(peer) = 'x';
  EXPECT_EQ(*static_cast<const char*>(memory.data), 'x');
  UnmapSharedMemory(peer, PageBytes());
  UnmapSharedMemory(memory.data, PageBytes());
}

TEST(SharedMemory, NobodyCanTruncateIt) {
  for (SharedMemoryWriter writer : {SharedMemoryWriter::kCreator, SharedMemoryWriter::kPeer}) {
    SharedMemory memory = CreateSharedMemory(2 * PageBytes(), writer).value();
    EXPECT_NE(ftruncate(memory.writable_fd.get(), static_cast<off_t>(PageBytes())), 0);
    EXPECT_NE(ftruncate(memory.writable_fd.get(), static_cast<off_t>(4 * PageBytes())), 0);
    UnmapSharedMemory(memory.data, 2 * PageBytes());
  }
}

TEST(SharedMemory, RefusesToMapMoreThanThereIs) {
  SharedMemory memory = CreateSharedMemory(PageBytes(), SharedMemoryWriter::kPeer).value();
  EXPECT_FALSE(MapSharedMemory(memory.writable_fd.get(), 2 * PageBytes(), false).ok());
  UnmapSharedMemory(memory.data, PageBytes());
}

TEST(SharedMemory, DescriptorsAreNotInherited) {
  SharedMemory memory = CreateSharedMemory(PageBytes(), SharedMemoryWriter::kPeer).value();
  EXPECT_TRUE(ClosesOnExec(memory.writable_fd.get()));
  EXPECT_TRUE(ClosesOnExec(memory.readonly_fd.get()));
  UnmapSharedMemory(memory.data, PageBytes());
}

TEST(WaitOnWord, ReturnsAtOnceWhenTheWordHasChanged) {
  TwoMappings mappings;
  ASSERT_TRUE(mappings.valid());
  mappings.writer()->store(1);
  EXPECT_TRUE(WaitOnWord(mappings.reader(), 0, kLongNs));
}

TEST(WaitOnWord, SaysThatItTimedOut) {
  TwoMappings mappings;
  ASSERT_TRUE(mappings.valid());
  EXPECT_FALSE(WaitOnWord(mappings.reader(), 0, kShortNs));
}

// The sleeper must leave the wait by a wake: its time-out is longer than any test may take.
TEST(WaitOnWord, WakesASleeperOfAnotherReadOnlyMapping) {
  TwoMappings mappings;
  ASSERT_TRUE(mappings.valid());
  std::atomic<uint32_t> rounds_seen = 0;
  std::atomic<bool> timed_out = false;
  constexpr uint32_t kRounds = 1000;
  std::thread sleeper([&] {
    for (uint32_t round = 0; round < kRounds; ++round) {
      while (mappings.reader()->load() == round) {
        if (!WaitOnWord(mappings.reader(), round, kLongNs)) timed_out = true;
      }
      rounds_seen = round + 1;
    }
  });
  for (uint32_t round = 0; round < kRounds; ++round) {
    mappings.writer()->store(round + 1);
    WakeWord(mappings.writer());
    while (rounds_seen.load() <= round) std::this_thread::yield();
  }
  sleeper.join();
  EXPECT_FALSE(timed_out);
}

TEST(Bell, IsReadableFromRingToClear) {
  Bell bell = CreateBell().value();
  EXPECT_FALSE(Readable(bell.poll_fd.get()));
  RingBell(bell.ring_fd.get());
  RingBell(bell.ring_fd.get());
  EXPECT_TRUE(Readable(bell.poll_fd.get()));
  ClearBell(bell.poll_fd.get());
  EXPECT_FALSE(Readable(bell.poll_fd.get()));
}

TEST(Bell, NeverBlocksWhoRingsOrClears) {
  Bell bell = CreateBell().value();
  ClearBell(bell.poll_fd.get());
  for (int i = 0; i < 100'000; ++i) RingBell(bell.ring_fd.get());
  EXPECT_TRUE(Readable(bell.poll_fd.get()));
}

TEST(Poller, ReportsTheTokensOfWhatIsReadable) {
  absl::StatusOr<Poller> poller = Poller::Create();
  absl::StatusOr<Bell> quiet = CreateBell();
  absl::StatusOr<Bell> first = CreateBell();
  absl::StatusOr<Bell> second = CreateBell();
  ASSERT_TRUE(poller.ok() && quiet.ok() && first.ok() && second.ok());
  ASSERT_TRUE(poller->AddReadable(quiet->poll_fd.get(), 1).ok());
  ASSERT_TRUE(poller->AddReadable(first->poll_fd.get(), 2).ok());
  ASSERT_TRUE(poller->AddReadable(second->poll_fd.get(), 1ULL << 63).ok());
  RingBell(first->ring_fd.get());
  RingBell(second->ring_fd.get());
  const std::vector<uint64_t>& ready = poller->Wait(kLongNs);
  EXPECT_EQ(std::set<uint64_t>(ready.begin(), ready.end()), (std::set<uint64_t>{2, 1ULL << 63}));
}

TEST(Poller, ReportsNothingOfARemovedDescriptor) {
  absl::StatusOr<Poller> poller = Poller::Create();
  absl::StatusOr<Bell> bell = CreateBell();
  ASSERT_TRUE(poller.ok() && bell.ok());
  ASSERT_TRUE(poller->AddReadable(bell->poll_fd.get(), 1).ok());
  RingBell(bell->ring_fd.get());
  poller->RemoveReadable(bell->poll_fd.get());
  EXPECT_TRUE(poller->Wait(kShortNs).empty());
}

// A child that lives until its control socket ends, so that the test decides when it exits.
absl::StatusOr<pid_t> SpawnWaitingChild(UniqueFd control) {
  SpawnOptions options;
  options.path = "/bin/sh";
  options.arguments = {"-c", "read line <&3; exit 5"};
  options.environment = {"PATH=/usr/bin:/bin"};
  options.control_fd = std::move(control);
  options.output_fd = UniqueFd(open("/dev/null", O_WRONLY | O_CLOEXEC));
  return Spawn(std::move(options));
}

TEST(Poller, ReportsAnExitOnlyWhenTheChildHasExited) {
  auto sockets = SocketPair();
  absl::StatusOr<Poller> poller = Poller::Create();
  ASSERT_TRUE(sockets.ok() && poller.ok());
  const pid_t pid = SpawnWaitingChild(std::move(sockets->second)).value();
  const UniqueFd watch = poller->AddExit(pid, 9).value();
  EXPECT_TRUE(poller->Wait(kShortNs).empty());
  sockets->first.Reset();
  EXPECT_EQ(poller->Wait(kLongNs), std::vector<uint64_t>{9});
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST(Poller, ReportsTheExitOfAChildThatWasDeadBefore) {
  auto sockets = SocketPair();
  absl::StatusOr<Poller> poller = Poller::Create();
  ASSERT_TRUE(sockets.ok() && poller.ok());
  const pid_t pid = SpawnWaitingChild(std::move(sockets->second)).value();
  sockets->first.Reset();
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  const UniqueFd watch = poller->AddExit(pid, 9).value();
  EXPECT_EQ(poller->Wait(kLongNs), std::vector<uint64_t>{9});
  EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
}

TEST(Spawn, GivesTheControlSocketAsDescriptorThree) {
  auto sockets = SocketPair().value();
  const UniqueFd ours = std::move(sockets.first);
  const Finished child = RunShell("echo answer >&3", std::move(sockets.second));
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_EQ(ReadToEnd(ours.get()), "answer\n");
}

TEST(Spawn, PassesStdoutAndStderrToTheOutput) {
  auto sockets = SocketPair().value();
  const Finished child = RunShell("echo out; echo err >&2", std::move(sockets.second));
  EXPECT_EQ(child.output, "out\nerr\n");
}

TEST(Spawn, PassesTheWholeEnvironmentAndNoOther) {
  auto sockets = SocketPair().value();
  const Finished child = RunShell("echo \"$MPSD_GIVEN,${HOME-none}\"", std::move(sockets.second),
                                  {"PATH=/usr/bin:/bin", "MPSD_GIVEN=yes"});
  EXPECT_EQ(child.output, "yes,none\n");
}

TEST(Spawn, ClosesEveryOtherDescriptor) {
  // Inheritable on purpose: the caller's carelessness must not leak into a worker.
  const UniqueFd leaky(open("/dev/null", O_RDONLY));
  ASSERT_TRUE(leaky.valid());
  ASSERT_FALSE(ClosesOnExec(leaky.get()));
  auto sockets = SocketPair().value();
  const Finished child = RunShell(
      "for fd in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do"
      " if [ -e /dev/fd/$fd ]; then printf '%s ' $fd; fi; done",
      std::move(sockets.second));
  EXPECT_EQ(child.output, "0 1 2 3 ");
}

TEST(Spawn, StartsWithNoSignalBlocked) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  auto sockets = SocketPair().value();
  const Finished child = RunShell("kill -TERM $$; echo survived", std::move(sockets.second));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(WIFSIGNALED(child.status)) << child.output;
}

TEST(Spawn, SaysWhichProgramItCannotStart) {
  auto sockets = SocketPair().value();
  SpawnOptions options;
  options.path = "/does/not/exist";
  options.control_fd = std::move(sockets.second);
  options.output_fd = UniqueFd(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const absl::StatusOr<pid_t> pid = Spawn(std::move(options));
  ASSERT_FALSE(pid.ok());
  EXPECT_NE(pid.status().message().find("/does/not/exist"), absl::string_view::npos);
}

TEST(Sockets, CarryBytesAndDescriptors) {
  auto sockets = SocketPair();
  absl::StatusOr<Bell> first = CreateBell();
  absl::StatusOr<Bell> second = CreateBell();
  ASSERT_TRUE(sockets.ok() && first.ok() && second.ok());
  const int sent[] = {first->ring_fd.get(), second->ring_fd.get()};
  ASSERT_TRUE(SendWithFds(sockets->first.get(), {"hello", 5}, sent).ok());

  char buffer[64];
  std::vector<UniqueFd> received;
  const auto count =
      ReceiveWithFds(sockets->second.get(), absl::MakeSpan(buffer), &received).value();
  EXPECT_EQ(std::string(buffer, count), "hello");
  ASSERT_EQ(received.size(), 2u);
  EXPECT_TRUE(ClosesOnExec(received[0].get()));
  RingBell(received[1].get());
  EXPECT_FALSE(Readable(first->poll_fd.get()));
  EXPECT_TRUE(Readable(second->poll_fd.get()));
}

TEST(Sockets, SendMoreThanTheKernelBuffers) {
  auto sockets = SocketPair().value();
  const std::string bytes(4 << 20, 'x');
  std::string arrived;
  std::thread reader([&] { arrived = ReadToEnd(sockets.second.get()); });
  EXPECT_TRUE(SendWithFds(sockets.first.get(), bytes, {}).ok());
  sockets.first.Reset();
  reader.join();
  EXPECT_EQ(arrived.size(), bytes.size());
}

TEST(Sockets, SendSomeStopsWhereTheKernelsBufferEnds) {
  auto sockets = SocketPair().value();
  const std::string bytes(4 << 20, 'x');
  size_t whole = 0;
  absl::StatusOr<size_t> sent = 1;
  while (*sent > 0) {
    sent = SendSomeWithFds(sockets.first.get(), bytes, {});
    ASSERT_TRUE(sent.ok()) << sent.status();
    whole += *sent;
    ASSERT_LT(whole, bytes.size());
  }
  EXPECT_GT(whole, 0u);
  sockets.second.Reset();
  EXPECT_FALSE(SendSomeWithFds(sockets.first.get(), bytes, {}).ok());
}

TEST(Sockets, ReceiveNothingAtEndOfFile) {
  auto sockets = SocketPair().value();
  sockets.first.Reset();
  char buffer[64];
  std::vector<UniqueFd> fds;
  const auto count = ReceiveWithFds(sockets.second.get(), absl::MakeSpan(buffer), &fds).value();
  EXPECT_EQ(count, 0u);
}

// A signal would end this process.
TEST(Sockets, SendingToADeadPeerIsAnError) {
  auto sockets = SocketPair().value();
  sockets.second.Reset();
  EXPECT_FALSE(SendWithFds(sockets.first.get(), {"x", 1}, {}).ok());
}

TEST(Host, ReportsPlausibleFigures) {
  EXPECT_GE(UsableCores(), 1u);
  EXPECT_GT(AvailableMemoryBytes(), 0u);
  EXPECT_GE(ResidentMemoryBytes(getpid()), PageBytes());
  EXPECT_EQ(PageBytes() & (PageBytes() - 1), 0u);
}

TEST(Host, KnowsTheRunningExecutable) {
  const std::string path = ExecutablePath().value();
  EXPECT_EQ(access(path.c_str(), X_OK), 0);
  EXPECT_EQ(path.front(), '/');
}

}  // namespace
}  // namespace mpsd::platform
