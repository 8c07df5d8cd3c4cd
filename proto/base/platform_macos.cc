// macOS 14.4 and later. Cross-compiled in CI and not yet run on a Mac.
#include <crt_externs.h>
#include <fcntl.h>
#include <libproc.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/event.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "proto/base/awake_time.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/base/descriptor_limit.h"
#include "proto/base/lasting_folder.h"
#include "proto/base/limits.h"
#include "proto/base/peer_user.h"
#include "proto/base/platform.h"
#include "proto/base/word_wait.h"

#if __has_include(<os/os_sync_wait_on_address.h>)
#include <os/os_sync_wait_on_address.h>
#else
// A cross toolchain has libSystem's symbols, but not every header.
#include <os/clock.h>
extern "C" {
typedef uint32_t os_sync_wait_on_address_flags_t;
typedef uint32_t os_sync_wake_by_address_flags_t;
inline constexpr uint32_t OS_SYNC_WAIT_ON_ADDRESS_SHARED = 1;
inline constexpr uint32_t OS_SYNC_WAKE_BY_ADDRESS_SHARED = 1;
__API_AVAILABLE(macos(14.4))
int os_sync_wait_on_address_with_timeout(void* address, uint64_t value, size_t size,
                                         os_sync_wait_on_address_flags_t flags, os_clockid_t clock,
                                         uint64_t timeout_ns);
__API_AVAILABLE(macos(14.4))
int os_sync_wake_by_address_any(void* address, size_t size, os_sync_wake_by_address_flags_t flags);
}
#endif

namespace mpsd::platform {
namespace {

constexpr int kFirstFreeChildFd = 10;  // above the numbers of the child's descriptors
constexpr int kMaxEvents = 64;

absl::Status Error(const char* call) { return absl::ErrnoToStatus(errno, call); }

bool SetCloseOnExec(int fd) { return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0; }

bool SetNonBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

void* AddressOf(const std::atomic<uint32_t>* word) {
  return const_cast<std::atomic<uint32_t>*>(word);
}

// A name has at most 31 bytes with the zero, and exists only during OpenTwice(). It is random, so
// that no other process takes it first.
std::string RandomName() {
  char name[31];
  const uint64_t id = (static_cast<uint64_t>(arc4random()) << 32) | arc4random();
  std::snprintf(name, sizeof name, "/mpsd.%016llx", static_cast<unsigned long long>(id));
  return name;
}

// One descriptor can write, the other cannot be mapped writable.
absl::Status OpenTwice(UniqueFd* writable, UniqueFd* readonly) {
  const std::string name = RandomName();
  writable->Reset(shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  if (!writable->valid()) return Error("shm_open");
  readonly->Reset(shm_open(name.c_str(), O_RDONLY, 0));
  const absl::Status opened = readonly->valid() ? absl::OkStatus() : Error("shm_open for reading");
  shm_unlink(name.c_str());
  if (!opened.ok()) return opened;
  if (!SetCloseOnExec(writable->get()) || !SetCloseOnExec(readonly->get())) return Error("fcntl");
  return absl::OkStatus();
}

// Mapped for one copy, because macOS cannot read such an object as a file. The size cannot change,
// so the mapping does not fault.
class MappedRange {
 public:
  MappedRange(int fd, uint64_t offset, uint64_t bytes, int protection) {
    struct stat status {};
    if (bytes == 0 || fstat(fd, &status) != 0) return;
    if (offset + bytes > static_cast<uint64_t>(status.st_size)) return;
    const uint64_t skipped = offset % PageBytes();
    void* data = mmap(nullptr, bytes + skipped, protection, MAP_SHARED, fd,
                      static_cast<off_t>(offset - skipped));
    if (data == MAP_FAILED) return;
    mapping_ = data;
    mapped_bytes_ = bytes + skipped;
    data_ = static_cast<char*>(data) + skipped;
  }
  ~MappedRange() {
    if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
  }
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;

  char* data() const { return data_; }

 private:
  void* mapping_ = nullptr;
  uint64_t mapped_bytes_ = 0;
  char* data_ = nullptr;
};

bool WaitForSocket(int socket, short events) {
  pollfd waited{socket, events, 0};
  const int count = poll(&waited, 1, -1);
  return count > 0 || errno == EINTR;
}

// They go beside the first byte; `control` must have room.
void AttachFds(msghdr* message, absl::Span<const int> fds, char* control, size_t control_bytes) {
  message->msg_control = control;
  message->msg_controllen = static_cast<socklen_t>(control_bytes);
  cmsghdr* header = CMSG_FIRSTHDR(message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = static_cast<socklen_t>(CMSG_LEN(fds.size() * sizeof(int)));
  std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
}

// Takes ownership of every descriptor.
void CollectFds(msghdr* message, std::vector<UniqueFd>* fds) {
  for (cmsghdr* header = CMSG_FIRSTHDR(message); header != nullptr;
       header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      SetCloseOnExec(fd);
      fds->emplace_back(fd);
    }
  }
}

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts->size() + 1);
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// No signal blocked, every default action, a process group of its own: a terminal's signals are for
// the front end.
void ResetSignals(posix_spawnattr_t* attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setsigdefault(attributes, &all);
  posix_spawnattr_setpgroup(attributes, 0);
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_CLOEXEC_DEFAULT | POSIX_SPAWN_SETSIGMASK |
                                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

uint64_t ReadSysctl(const char* name) {
  // Some have 32 bits; the upper half stays zero.
  uint64_t value = 0;
  size_t bytes = sizeof value;
  return sysctlbyname(name, &value, &bytes, nullptr, 0) == 0 ? value : 0;
}

}  // namespace

absl::StatusOr<SharedMemory> CreateSharedMemory(uint64_t bytes, SharedMemoryWriter writer) {
  SharedMemory memory;
  memory.bytes = bytes;
  if (absl::Status s = OpenTwice(&memory.writable_fd, &memory.readonly_fd); !s.ok()) return s;
  // macOS refuses a second ftruncate, which stands in for seals.
  const int fd = memory.writable_fd.get();
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) return Error("cannot size shared memory");
  absl::StatusOr<void*> data = MapSharedMemory(fd, bytes, true);
  if (!data.ok()) return data.status();
  memory.data = *data;
  std::memset(memory.data, 0, bytes);  // allocates every page now
  const bool own = writer == SharedMemoryWriter::kCreator;
  if (!own && mprotect(memory.data, bytes, PROT_READ) != 0) {
    UnmapSharedMemory(memory.data, bytes);
    return Error("cannot protect shared memory");
  }
  return memory;
}

absl::StatusOr<void*> MapSharedMemory(int fd, uint64_t bytes, bool writable) {
  struct stat status;
  if (fstat(fd, &status) != 0) return Error("fstat");
  if (status.st_size < 0 || static_cast<uint64_t>(status.st_size) < bytes) {
    return absl::InvalidArgumentError("shared memory is smaller than it was said to be");
  }
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return Error("mmap");
  return data;
}

void UnmapSharedMemory(void* data, uint64_t bytes) {
  if (data != nullptr) MPSD_CHECK(munmap(data, bytes) == 0);
}

uint64_t PageBytes() { return static_cast<uint64_t>(getpagesize()); }

absl::StatusOr<NamedMemory> OpenNamedMemory(const std::string& name) {
  NamedMemory memory;
  memory.fd.Reset(shm_open(name.c_str(), O_RDWR, 0));
  if (!memory.fd.valid()) return Error("shm_open");
  if (!SetCloseOnExec(memory.fd.get())) return Error("fcntl");
  struct stat status {};
  if (fstat(memory.fd.get(), &status) != 0) return Error("fstat");
  memory.bytes = static_cast<uint64_t>(status.st_size);
  memory.device = static_cast<uint64_t>(status.st_dev);
  memory.inode = static_cast<uint64_t>(status.st_ino);
  return memory;
}

absl::Status ReadNamedMemory(int fd, uint64_t offset, absl::Span<char> target) {
  const MappedRange range(fd, offset, target.size(), PROT_READ);
  if (range.data() == nullptr) return absl::OutOfRangeError("it is smaller");
  std::memcpy(target.data(), range.data(), target.size());
  return absl::OkStatus();
}

absl::Status WriteNamedMemory(int fd, uint64_t offset, absl::Span<const char> source) {
  const MappedRange range(fd, offset, source.size(), PROT_READ | PROT_WRITE);
  if (range.data() == nullptr) return absl::OutOfRangeError("it is smaller");
  std::memcpy(range.data(), source.data(), source.size());
  return absl::OkStatus();
}

bool WaitOnWord(const std::atomic<uint32_t>* word, uint32_t expected, int64_t timeout_ns) {
  // The system refuses a time-out of zero.
  const uint64_t timeout = static_cast<uint64_t>(std::max<int64_t>(timeout_ns, 1));
  const int result = os_sync_wait_on_address_with_timeout(
      AddressOf(word), expected, sizeof(uint32_t), OS_SYNC_WAIT_ON_ADDRESS_SHARED,
      OS_CLOCK_MACH_ABSOLUTE_TIME, timeout);
  return EndWordWait(result >= 0 ? 0 : errno, *word, expected, timeout_ns);
}

void WakeWord(const std::atomic<uint32_t>* word) {
  // ENOENT says that nobody sleeps, which is no error.
  os_sync_wake_by_address_any(AddressOf(word), sizeof(uint32_t), OS_SYNC_WAKE_BY_ADDRESS_SHARED);
}

absl::StatusOr<Bell> CreateBell() {
  int ends[2];
  if (pipe(ends) != 0) return Error("pipe");
  Bell bell{UniqueFd(ends[0]), UniqueFd(ends[1])};
  for (int fd : ends) {
    if (!SetCloseOnExec(fd) || !SetNonBlocking(fd)) return Error("fcntl");
  }
  if (fcntl(bell.ring_fd.get(), F_SETNOSIGPIPE, 1) != 0) return Error("F_SETNOSIGPIPE");
  return bell;
}

void RingBell(int ring_fd) {
  // A full pipe rings already; without a reader the peer is dead.
  const char byte = 1;
  while (write(ring_fd, &byte, 1) < 0 && errno == EINTR) {
  }
}

bool BellRings(int poll_fd) {
  pollfd bell{poll_fd, POLLIN, 0};
  return poll(&bell, 1, 0) > 0;
}

void ClearBell(int poll_fd) {
  char bytes[256];
  ssize_t count;
  do {
    count = read(poll_fd, bytes, sizeof bytes);
  } while (count == static_cast<ssize_t>(sizeof bytes) || (count < 0 && errno == EINTR));
}

absl::StatusOr<Poller> Poller::Create() {
  Poller poller;
  poller.fd_.Reset(kqueue());
  if (!poller.fd_.valid() || !SetCloseOnExec(poller.fd_.get())) return Error("kqueue");
  return poller;
}

absl::Status Poller::AddReadable(int fd, uint64_t token) {
  struct kevent event;
  EV_SET(&event, static_cast<uintptr_t>(fd), EVFILT_READ, EV_ADD, 0, 0,
         reinterpret_cast<void*>(token));
  if (kevent(fd_.get(), &event, 1, nullptr, 0, nullptr) != 0) return Error("kevent, readable");
  return absl::OkStatus();
}

void Poller::RemoveReadable(int fd) {
  struct kevent event;
  EV_SET(&event, static_cast<uintptr_t>(fd), EVFILT_READ, EV_DELETE, 0, 0, nullptr);
  kevent(fd_.get(), &event, 1, nullptr, 0, nullptr);
}

absl::StatusOr<UniqueFd> Poller::AddExit(pid_t pid, uint64_t token) {
  struct kevent event;
  EV_SET(&event, static_cast<uintptr_t>(pid), EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, 0,
         reinterpret_cast<void*>(token));
  if (kevent(fd_.get(), &event, 1, nullptr, 0, nullptr) == 0) return UniqueFd();
  if (errno != ESRCH) return Error("kevent, exit");
  // kqueue does not find a zombie, so this triggers the token.
  EV_SET(&event, static_cast<uintptr_t>(pid), EVFILT_USER, EV_ADD | EV_ONESHOT, NOTE_TRIGGER, 0,
         reinterpret_cast<void*>(token));
  if (kevent(fd_.get(), &event, 1, nullptr, 0, nullptr) != 0) return Error("kevent, exited");
  return UniqueFd();
}

std::vector<uint64_t> Poller::Wait(int64_t timeout_ns) const {
  struct kevent events[kMaxEvents];
  timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                   static_cast<long>(timeout_ns % 1'000'000'000)};
  const int count =
      kevent(fd_.get(), nullptr, 0, events, kMaxEvents, timeout_ns < 0 ? nullptr : &timeout);
  std::vector<uint64_t> ready;
  for (int i = 0; i < count; ++i) ready.push_back(reinterpret_cast<uint64_t>(events[i].udata));
  return ready;
}

absl::StatusOr<pid_t> Spawn(SpawnOptions options) {
  // The copies have high numbers, so that no source is one of the targets 0..3.
  UniqueFd control(fcntl(options.control_fd.get(), F_DUPFD_CLOEXEC, kFirstFreeChildFd));
  UniqueFd output(fcntl(options.output_fd.get(), F_DUPFD_CLOEXEC, kFirstFreeChildFd));
  if (!control.valid() || !output.valid()) return Error("fcntl");

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, output.get(), 2);
  posix_spawn_file_actions_adddup2(&actions, control.get(), 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  ResetSignals(&attributes);

  options.arguments.insert(options.arguments.begin(), options.path);
  const std::vector<char*> arguments = Pointers(&options.arguments);
  const std::vector<char*> environment = Pointers(&options.environment);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, options.path.c_str(), &actions, &attributes, arguments.data(),
                                environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return absl::ErrnoToStatus(error, "posix_spawn of " + options.path);
  return pid;
}

absl::StatusOr<std::pair<UniqueFd, UniqueFd>> SocketPair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return Error("socketpair");
  std::pair<UniqueFd, UniqueFd> pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
  for (int fd : ends) {
    const int on = 1;
    if (!SetCloseOnExec(fd) || setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) != 0) {
      return Error("SO_NOSIGPIPE");
    }
  }
  return pair;
}

absl::StatusOr<uint32_t> PeerUser(int socket) {
  uid_t user = 0;
  gid_t group = 0;
  if (getpeereid(socket, &user, &group) != 0) return Error("getpeereid");
  return user;
}

absl::Status SendWithFds(int socket, absl::Span<const char> bytes, absl::Span<const int> fds) {
  MPSD_CHECK(!bytes.empty() && fds.size() <= kMaxMessageFds);
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxMessageFds * sizeof(int))] = {};
  bool fds_sent = fds.empty();
  while (!bytes.empty()) {
    iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (!fds_sent) AttachFds(&message, fds, control, CMSG_SPACE(fds.size() * sizeof(int)));
    const ssize_t count = sendmsg(socket, &message, 0);
    if (count > 0) {
      fds_sent = true;
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      if (!WaitForSocket(socket, POLLOUT)) return Error("poll");
    } else if (errno != EINTR) {
      return Error("sendmsg");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> SendSomeWithFds(int socket, absl::Span<const char> bytes,
                                       absl::Span<const int> fds) {
  MPSD_CHECK(!bytes.empty() && fds.size() <= kMaxMessageFds);
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxMessageFds * sizeof(int))] = {};
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!fds.empty()) AttachFds(&message, fds, control, CMSG_SPACE(fds.size() * sizeof(int)));
  ssize_t count;
  do {
    count = sendmsg(socket, &message, MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count >= 0) return static_cast<size_t>(count);
  // ENOBUFS says that there is no room for the descriptors.
  if (errno == EAGAIN || errno == ENOBUFS) return 0;
  return Error("sendmsg");
}

absl::StatusOr<size_t> ReceiveWithFds(int socket, absl::Span<char> buffer,
                                      std::vector<UniqueFd>* fds) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxMessageFds * sizeof(int))];
  iovec piece{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t count;
  do {
    count = recvmsg(socket, &message, 0);
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) return absl::OutOfRangeError("nothing is there to receive");
  if (count < 0) return Error("recvmsg");
  CollectFds(&message, fds);
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    return absl::InvalidArgumentError("more descriptors than a message may carry");
  }
  return static_cast<size_t>(count);
}

void DieWithParent() {
  // macOS has no such request: a worker sees its control socket end.
}

void HideMemory() {
  // Without the debugging entitlement no process gets another's task port.
}

void DieFirstOfMemory() {
  // The system chooses by footprint, and a worker's is larger.
}

uint64_t OutOfMemoryKills() {
  // The system does not tell.
  return 0;
}

void NameThread(const char* name) {
  char kept[16];
  std::snprintf(kept, sizeof kept, "%s", name);
  pthread_setname_np(kept);
}

uint64_t AvailableMemoryBytes() {
  vm_statistics64_data_t statistics{};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  const mach_port_t host = mach_host_self();
  const kern_return_t result =
      host_statistics64(host, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&statistics), &count);
  mach_port_deallocate(mach_task_self(), host);
  if (result != KERN_SUCCESS) return 0;
  // The system gives up inactive pages before it swaps.
  return (static_cast<uint64_t>(statistics.free_count) + statistics.inactive_count) * PageBytes();
}

uint64_t ResidentMemoryBytes(pid_t pid) {
  // The system kills for the footprint, which counts device memory too.
  rusage_info_v4 usage{};
  if (proc_pid_rusage(pid, RUSAGE_INFO_V4, reinterpret_cast<rusage_info_t*>(&usage)) != 0) return 0;
  return usage.ri_phys_footprint;
}

double CpuSeconds(pid_t pid) {
  rusage_info_v4 usage{};
  if (proc_pid_rusage(pid, RUSAGE_INFO_V4, reinterpret_cast<rusage_info_t*>(&usage)) != 0) return 0;
  mach_timebase_info_data_t base{};
  mach_timebase_info(&base);
  const auto ticks = static_cast<double>(usage.ri_user_time + usage.ri_system_time);
  return ticks * base.numer / base.denom * 1e-9;
}

uint32_t UsableCores() {
  // Performance cores; an Intel Mac does not distinguish cores.
  uint64_t cores = ReadSysctl("hw.perflevel0.logicalcpu");
  if (cores == 0) cores = ReadSysctl("hw.ncpu");
  return static_cast<uint32_t>(std::max<uint64_t>(cores, 1));
}

// The load of the last minute.
bool CoresAreLeft() {
  double load = 0;
  const uint32_t cores = UsableCores();
  return cores > kFewCores && getloadavg(&load, 1) == 1 && load < cores;
}

std::vector<std::string> Arguments() {
  const int count = *_NSGetArgc();
  char** const words = *_NSGetArgv();
  return std::vector<std::string>(words + std::min(count, 1), words + count);
}

bool MayHaveGpu() { return true; }

uint64_t DescriptorBound() { return ReadSysctl("kern.maxfilesperproc"); }

// Macs' CLOCK_MONOTONIC runs on while the host sleeps.
int64_t AwakeNs() { return static_cast<int64_t>(clock_gettime_nsec_np(CLOCK_UPTIME_RAW)); }

std::string LastingFolder() {
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return "";
  return std::string(home) + "/Library/Application Support";
}

int64_t ModifiedNs(const struct stat& status) {
  return status.st_mtimespec.tv_sec * kNsPerSecond + status.st_mtimespec.tv_nsec;
}

absl::StatusOr<std::string> ExecutablePath() {
  uint32_t bytes = 0;
  _NSGetExecutablePath(nullptr, &bytes);
  std::string path(bytes, '\0');
  if (_NSGetExecutablePath(path.data(), &bytes) != 0) return absl::InternalError("executable path");
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) return Error("realpath");
  return std::string(resolved);
}

// The sandbox allows files by name.
std::string PathOfOpenFile(int) { return ""; }

}  // namespace mpsd::platform
