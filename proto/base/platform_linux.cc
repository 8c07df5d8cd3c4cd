#include <fcntl.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/base/awake_time.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/base/descriptor_limit.h"
#include "proto/base/lasting_folder.h"
#include "proto/base/limits.h"
#include "proto/base/peer_user.h"
#include "proto/base/platform.h"
#include "proto/base/word_wait.h"

namespace mpsd::platform {
namespace {

constexpr uint64_t kAllocationStep = 64ULL << 20;

// Debian 12's headers may lack this seal.
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

absl::Status Errno(absl::string_view what) { return absl::ErrnoToStatus(errno, what); }

std::string ReadSmallFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<uint64_t> ReadNumber(const std::string& path) {
  uint64_t number = 0;
  const std::string text = ReadSmallFile(path);
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &number)) return std::nullopt;
  return number;
}

// This process's in the mount of `controller` ("": unified), then each ancestor up to the root.
std::vector<std::string> CgroupFolders(absl::string_view controller) {
  std::vector<std::string> folders;
  const std::string lines = ReadSmallFile("/proc/self/cgroup");
  for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<absl::string_view> controllers = absl::StrSplit(fields[1], ',');
    if (std::find(controllers.begin(), controllers.end(), controller) == controllers.end())
      continue;
    const std::string mount =
        controller.empty() ? "/sys/fs/cgroup" : absl::StrCat("/sys/fs/cgroup/", controller);
    for (std::string path = fields[2]; path.size() > 1; path.erase(path.rfind('/'))) {
      folders.push_back(mount + path);
    }
    folders.push_back(mount);
  }
  return folders;
}

// Reads lines of "name number"; 0 if there is none.
uint64_t StatField(const std::string& lines, absl::string_view name) {
  for (absl::string_view line : absl::StrSplit(lines, '\n')) {
    uint64_t number = 0;
    if (absl::ConsumePrefix(&line, name) && absl::ConsumePrefix(&line, " ") &&
        absl::SimpleAtoi(line, &number)) {
      return number;
    }
  }
  return 0;
}

std::optional<uint64_t> CgroupMemoryLeft(const std::string& folder, const char* limit_file,
                                         const char* usage_file, absl::string_view cache_field) {
  const std::optional<uint64_t> limit = ReadNumber(absl::StrCat(folder, "/", limit_file));
  const std::optional<uint64_t> usage = ReadNumber(absl::StrCat(folder, "/", usage_file));
  if (!limit.has_value() || !usage.has_value()) return std::nullopt;
  // The kernel frees unused page cache on demand.
  const uint64_t cache = StatField(ReadSmallFile(folder + "/memory.stat"), cache_field);
  const uint64_t used = *usage - std::min(*usage, cache);
  return *limit > used ? *limit - used : 0;
}

uint64_t HostMemoryLeft() {
  const std::string lines = ReadSmallFile("/proc/meminfo");
  for (absl::string_view line : absl::StrSplit(lines, '\n')) {
    if (!absl::ConsumePrefix(&line, "MemAvailable:")) continue;
    uint64_t kib = 0;
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (!words.empty() && absl::SimpleAtoi(words[0], &kib)) return kib << 10;
  }
  return static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * PageBytes();
}

absl::Status Allocate(int fd, uint64_t bytes) {
  for (uint64_t offset = 0; offset < bytes; offset += kAllocationStep) {
    const uint64_t step = std::min(kAllocationStep, bytes - offset);
    int error = EINTR;
    while (error == EINTR) {
      error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(step));
    }
    if (error != 0) return absl::ErrnoToStatus(error, "cannot allocate shared memory");
  }
  return absl::OkStatus();
}

// A second file description of the same memory.
UniqueFd ReopenReadOnly(int fd) {
  return UniqueFd(open(absl::StrCat("/proc/self/fd/", fd).c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

absl::StatusOr<SharedMemory> CreateSharedMemory(uint64_t bytes, SharedMemoryWriter writer) {
  SharedMemory memory;
  memory.bytes = bytes;
  memory.writable_fd.Reset(memfd_create("mpsd", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const int fd = memory.writable_fd.get();
  if (fd < 0) return Errno("cannot create shared memory");
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) return Errno("cannot size shared memory");
  if (absl::Status status = Allocate(fd, bytes); !status.ok()) return status;
  const bool own = writer == SharedMemoryWriter::kCreator;
  const int protection = own ? PROT_READ | PROT_WRITE : PROT_READ;
  memory.data = mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (memory.data == MAP_FAILED) return Errno("cannot map shared memory");
  // The creator's writable mapping was made before.
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (own ? F_SEAL_FUTURE_WRITE : 0);
  if (fcntl(fd, F_ADD_SEALS, seals) != 0) {
    UnmapSharedMemory(memory.data, bytes);
    return Errno("cannot seal shared memory");
  }
  memory.readonly_fd = ReopenReadOnly(fd);
  if (!memory.readonly_fd.valid()) {
    UnmapSharedMemory(memory.data, bytes);
    return Errno("cannot reopen shared memory");
  }
  return memory;
}

absl::StatusOr<void*> MapSharedMemory(int fd, uint64_t bytes, bool writable) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return Errno("cannot look at shared memory");
  if (static_cast<uint64_t>(info.st_size) < bytes) {
    return absl::InvalidArgumentError("shared memory is smaller than announced");
  }
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = mmap(nullptr, bytes, protection, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) return Errno("cannot map shared memory");
  return data;
}

void UnmapSharedMemory(void* data, uint64_t bytes) { munmap(data, bytes); }

uint64_t PageBytes() {
  static const uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// A mapping of a truncated object faults, so the object is read and written as a file.
absl::StatusOr<NamedMemory> OpenNamedMemory(const std::string& name) {
  NamedMemory memory;
  memory.fd.Reset(shm_open(name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
  if (!memory.fd.valid()) return Errno("cannot open shared memory");
  struct stat info {};
  if (fstat(memory.fd.get(), &info) != 0) return Errno("cannot look at shared memory");
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError("it is no shared memory");
  memory.bytes = static_cast<uint64_t>(info.st_size);
  memory.device = info.st_dev;
  memory.inode = info.st_ino;
  return memory;
}

absl::Status ReadNamedMemory(int fd, uint64_t offset, absl::Span<char> target) {
  while (!target.empty()) {
    const ssize_t got = pread(fd, target.data(), target.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return absl::OutOfRangeError("it is smaller");
    offset += static_cast<uint64_t>(got);
    target.remove_prefix(static_cast<size_t>(got));
  }
  return absl::OkStatus();
}

absl::Status WriteNamedMemory(int fd, uint64_t offset, absl::Span<const char> source) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return Errno("cannot look at shared memory");
  // Beyond the end it would allocate memory that the owner has released.
  if (offset + source.size() > static_cast<uint64_t>(info.st_size)) {
    return absl::OutOfRangeError("it is smaller");
  }
  while (!source.empty()) {
    const ssize_t put = pwrite(fd, source.data(), source.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == ENOSPC) return absl::ResourceExhaustedError("no memory is left");
    if (put <= 0) return absl::OutOfRangeError("it is smaller");
    offset += static_cast<uint64_t>(put);
    source.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

bool WaitOnWord(const std::atomic<uint32_t>* word, uint32_t expected, int64_t timeout_ns) {
  const timespec timeout{timeout_ns / kNsPerSecond, timeout_ns % kNsPerSecond};
  const long result = syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
  return EndWordWait(result == 0 ? 0 : errno, *word, expected, timeout_ns);
}

void WakeWord(const std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

absl::StatusOr<Bell> CreateBell() {
  Bell bell;
  // Not an eventfd: a holder of one end could make the other block.
  int fds[2];
  if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) return Errno("cannot create a pipe");
  bell.poll_fd.Reset(fds[0]);
  bell.ring_fd.Reset(fds[1]);
  return bell;
}

void RingBell(int ring_fd) {
  const char ring = 1;
  [[maybe_unused]] const ssize_t written = write(ring_fd, &ring, sizeof(ring));
}

bool BellRings(int poll_fd) {
  pollfd bell{poll_fd, POLLIN, 0};
  return poll(&bell, 1, 0) > 0;
}

void ClearBell(int poll_fd) {
  // One full pipe and no more: a peer may ring without end.
  char rings[4096];
  for (int i = 0; i < 16; ++i) {
    if (read(poll_fd, rings, sizeof(rings)) < static_cast<ssize_t>(sizeof(rings))) return;
  }
}

absl::StatusOr<Poller> Poller::Create() {
  Poller poller;
  poller.fd_.Reset(epoll_create1(EPOLL_CLOEXEC));
  if (!poller.fd_.valid()) return Errno("cannot create an epoll set");
  return poller;
}

absl::Status Poller::AddReadable(int fd, uint64_t token) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = token;
  if (epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return Errno("cannot watch a descriptor");
  return absl::OkStatus();
}

void Poller::RemoveReadable(int fd) { epoll_ctl(fd_.get(), EPOLL_CTL_DEL, fd, nullptr); }

absl::StatusOr<UniqueFd> Poller::AddExit(pid_t pid, uint64_t token) {
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.valid()) return Errno("cannot open a pidfd");
  if (absl::Status status = AddReadable(fd.get(), token); !status.ok()) return status;
  return fd;
}

std::vector<uint64_t> Poller::Wait(int64_t timeout_ns) const {
  epoll_event events[64];
  const int64_t timeout_ms =
      timeout_ns < 0 ? -1 : std::min<int64_t>((timeout_ns + kNsPerMs - 1) / kNsPerMs, INT_MAX);
  const int count = epoll_wait(fd_.get(), events, 64, static_cast<int>(timeout_ms));
  std::vector<uint64_t> ready;
  for (int i = 0; i < count; ++i) ready.push_back(events[i].data.u64);
  return ready;
}

absl::StatusOr<pid_t> Spawn(SpawnOptions options) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, options.output_fd.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, options.output_fd.get(), 2);
  posix_spawn_file_actions_adddup2(&actions, options.control_fd.get(), 3);
  posix_spawn_file_actions_addclosefrom_np(&actions, 4);
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  // A terminal's signals are for the front end.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);

  std::vector<char*> arguments = {options.path.data()};
  for (std::string& argument : options.arguments) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (std::string& variable : options.environment) environment.push_back(variable.data());
  environment.push_back(nullptr);

  pid_t pid = -1;
  const int error = posix_spawn(&pid, options.path.c_str(), &actions, &attributes, arguments.data(),
                                environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return absl::ErrnoToStatus(error, absl::StrCat("cannot start ", options.path));
  return pid;
}

absl::StatusOr<std::pair<UniqueFd, UniqueFd>> SocketPair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return Errno("cannot create a socket pair");
  }
  return std::make_pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

absl::StatusOr<uint32_t> PeerUser(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) {
    return Errno("cannot tell whose socket it is");
  }
  return peer.uid;
}

namespace {

ssize_t SendOnce(int socket, absl::Span<const char> bytes, absl::Span<const int> fds, int flags) {
  MPSD_CHECK(fds.size() <= kMaxMessageFds);
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxMessageFds * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
  }
  ssize_t sent = -1;
  do {
    sent = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace

absl::Status SendWithFds(int socket, absl::Span<const char> bytes, absl::Span<const int> fds) {
  while (!bytes.empty()) {
    const ssize_t sent = SendOnce(socket, bytes, fds, 0);
    if (sent < 0) return Errno("cannot send");
    bytes.remove_prefix(static_cast<size_t>(sent));
    fds = {};
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> SendSomeWithFds(int socket, absl::Span<const char> bytes,
                                       absl::Span<const int> fds) {
  const ssize_t sent = SendOnce(socket, bytes, fds, MSG_DONTWAIT);
  if (sent >= 0) return static_cast<size_t>(sent);
  if (errno == EAGAIN) return 0;
  return Errno("cannot send");
}

absl::StatusOr<size_t> ReceiveWithFds(int socket, absl::Span<char> buffer,
                                      std::vector<UniqueFd>* fds) {
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxMessageFds * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t got = -1;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return absl::OutOfRangeError("nothing is there to receive");
  if (got < 0) return Errno("cannot receive");
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      fds->emplace_back(fd);
    }
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    return absl::InvalidArgumentError("more descriptors than a message may carry");
  }
  return static_cast<size_t>(got);
}

void DieWithParent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

void HideMemory() { prctl(PR_SET_DUMPABLE, 0); }

void DieFirstOfMemory() {
  // This weighs as nine tenths of the memory: more than a front end with all its shared memory.
  std::ofstream("/proc/self/oom_score_adj") << 900;
}

uint64_t OutOfMemoryKills() {
  const std::pair<const char*, const char*> places[] = {{"", "/memory.events"},
                                                        {"memory", "/memory.oom_control"}};
  for (const auto& [controller, file] : places) {
    for (const std::string& folder : CgroupFolders(controller)) {
      const std::string lines = ReadSmallFile(folder + file);
      if (absl::StrContains(lines, "oom_kill ")) return StatField(lines, "oom_kill");
    }
  }
  return StatField(ReadSmallFile("/proc/vmstat"), "oom_kill");
}

void NameThread(const char* name) { prctl(PR_SET_NAME, name); }

uint64_t AvailableMemoryBytes() {
  uint64_t left = HostMemoryLeft();
  const auto take = [&left](std::optional<uint64_t> other) {
    if (other.has_value()) left = std::min(left, *other);
  };
  for (const std::string& folder : CgroupFolders("")) {
    take(CgroupMemoryLeft(folder, "memory.max", "memory.current", "inactive_file"));
  }
  for (const std::string& folder : CgroupFolders("memory")) {
    take(CgroupMemoryLeft(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                          "total_inactive_file"));
  }
  return left;
}

uint64_t ResidentMemoryBytes(pid_t pid) {
  const std::string text = ReadSmallFile(absl::StrCat("/proc/", pid, "/statm"));
  const std::vector<absl::string_view> fields = absl::StrSplit(text, ' ');
  uint64_t pages = 0;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[1], &pages)) return 0;
  return pages * PageBytes();
}

// The program's name in brackets may have blanks.
double CpuSeconds(pid_t pid) {
  const std::string text = ReadSmallFile(absl::StrCat("/proc/", pid, "/stat"));
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(text).substr(name_end + 1), ' ', absl::SkipEmpty());
  constexpr size_t kUserTicks = 11;
  uint64_t user = 0;
  uint64_t system = 0;
  if (fields.size() < kUserTicks + 2 || !absl::SimpleAtoi(fields[kUserTicks], &user) ||
      !absl::SimpleAtoi(fields[kUserTicks + 1], &system)) {
    return 0;
  }
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

uint32_t UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  uint64_t cores = 1;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    cores = static_cast<uint64_t>(std::max(1, CPU_COUNT(&set)));
  }
  for (const std::string& folder : CgroupFolders("")) {
    const std::string text = ReadSmallFile(folder + "/cpu.max");
    const std::vector<absl::string_view> words =
        absl::StrSplit(absl::StripAsciiWhitespace(text), ' ');
    uint64_t quota = 0;
    uint64_t period = 0;
    if (words.size() == 2 && absl::SimpleAtoi(words[0], &quota) &&
        absl::SimpleAtoi(words[1], &period) && period > 0) {
      cores = std::min(cores, std::max<uint64_t>(1, (quota + period - 1) / period));
    }
  }
  return static_cast<uint32_t>(cores);
}

// loadavg's fourth field is "running/all", in threads of the host.
bool CoresAreLeft() {
  if (UsableCores() <= kFewCores) return false;
  const std::vector<std::string> words = absl::StrSplit(ReadSmallFile("/proc/loadavg"), ' ');
  uint32_t running = 0;
  if (words.size() < 4 || !absl::SimpleAtoi(words[3].substr(0, words[3].find('/')), &running)) {
    return false;
  }
  return running < std::thread::hardware_concurrency();
}

// The loaded driver makes this device.
bool MayHaveGpu() { return access("/dev/nvidiactl", F_OK) == 0; }

uint64_t DescriptorBound() { return 0; }

// It stands still while the host sleeps.
int64_t AwakeNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

std::string LastingFolder() { return ""; }

int64_t ModifiedNs(const struct stat& status) {
  return status.st_mtim.tv_sec * kNsPerSecond + status.st_mtim.tv_nsec;
}

absl::StatusOr<std::string> ExecutablePath() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length < 0) return Errno("cannot read /proc/self/exe");
  return std::string(path, static_cast<size_t>(length));
}

std::vector<std::string> Arguments() {
  std::vector<std::string> words =
      absl::StrSplit(ReadSmallFile("/proc/self/cmdline"), absl::ByChar('\0'));
  if (!words.empty()) words.pop_back();  // each word has an end
  if (!words.empty()) words.erase(words.begin());
  return words;
}

std::string PathOfOpenFile(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

}  // namespace mpsd::platform
