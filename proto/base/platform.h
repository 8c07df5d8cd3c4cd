// platform: the seam to the operating system. platform_linux.cc and platform_macos.cc implement it
// side by side.
//
// All functions are thread-safe, and none blocks unless it says so. Errors carry errno's text, for
// the log and never for a client.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/base/fd.h"

struct stat;

namespace mpsd::platform {

// ---- shared memory ----

// The creator unmaps `data`.
struct SharedMemory {
  void* data = nullptr;  // read-write, `bytes` long, fully allocated
  uint64_t bytes = 0;
  UniqueFd writable_fd;  // for a peer that writes
  UniqueFd readonly_fd;  // mapping it writable fails
};

// kCreator: peers only read (Linux seals SHRINK|GROW|FUTURE_WRITE|SEAL). kPeer: one peer writes
// (sealed SHRINK|GROW|SEAL).
enum class SharedMemoryWriter { kCreator, kPeer };

// `bytes` is a multiple of PageBytes(). The caller has checked the budget.
absl::StatusOr<SharedMemory> CreateSharedMemory(uint64_t bytes, SharedMemoryWriter writer);

// Fails if the object is smaller than `bytes`.
absl::StatusOr<void*> MapSharedMemory(int fd, uint64_t bytes, bool writable);
void UnmapSharedMemory(void* data, uint64_t bytes);
uint64_t PageBytes();

// A client's object, opened but not mapped. Its owner may change the content at any time, and the
// size if the system allows.
struct NamedMemory {
  UniqueFd fd;
  uint64_t bytes = 0;
  uint64_t device = 0;  // with `inode`: the object's identity
  uint64_t inode = 0;
};
absl::StatusOr<NamedMemory> OpenNamedMemory(const std::string& name);

// These never fault. OUT_OF_RANGE if the object lost a part of the range. RESOURCE_EXHAUSTED if the
// system has no memory for an untouched page; a part may be written then.
absl::Status ReadNamedMemory(int fd, uint64_t offset, absl::Span<char> target);
absl::Status WriteNamedMemory(int fd, uint64_t offset, absl::Span<const char> source);

// ---- sleeping ----

// Blocks until `word` is woken, or for `timeout_ns`. Returns at once unless `word` holds
// `expected`. The mapping may be read-only. False only if the time-out ended the sleep.
bool WaitOnWord(const std::atomic<uint32_t>* word, uint32_t expected, int64_t timeout_ns);

// Wakes one sleeper, in any process.
void WakeWord(const std::atomic<uint32_t>* word);

// `poll_fd` is readable from a ring until a clear. A peer may ring through `ring_fd`. Several rings
// before a clear count as one.
struct Bell {
  UniqueFd poll_fd;
  UniqueFd ring_fd;
};
absl::StatusOr<Bell> CreateBell();
void RingBell(int ring_fd);
void ClearBell(int poll_fd);
bool BellRings(int poll_fd);

// Waits for descriptors and process exits. Thread-safe. A removed token may be reported once more.
class Poller {
 public:
  static absl::StatusOr<Poller> Create();

  absl::Status AddReadable(int fd, uint64_t token);
  void RemoveReadable(int fd);

  // Reports the token once; the caller reaps the child. The returned descriptor must live until
  // then; it is invalid if the platform needs none.
  absl::StatusOr<UniqueFd> AddExit(pid_t pid, uint64_t token);

  // Blocks until tokens are ready; at most 64. None after `timeout_ns` (negative: no limit).
  std::vector<uint64_t> Wait(int64_t timeout_ns) const;

  // Readable while a token is ready.
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

// ---- processes ----

struct SpawnOptions {
  std::string path;
  std::vector<std::string> arguments;    // argv[1...]
  std::vector<std::string> environment;  // all of it, "NAME=value"
  UniqueFd control_fd;                   // becomes descriptor 3
  UniqueFd output_fd;                    // becomes stdout and stderr
};
// Uses posix_spawn, never fork. The child has only descriptors 0..3, an empty signal mask and its
// own process group. The caller reaps the child.
absl::StatusOr<pid_t> Spawn(SpawnOptions options);

// Stream sockets that no child inherits and that raise no SIGPIPE.
absl::StatusOr<std::pair<UniqueFd, UniqueFd>> SocketPair();

// Both block if the socket does. Receiving returns 0 at end of file, OUT_OF_RANGE when a
// non-blocking socket is empty. REQUIRES: at most kMaxMessageFds descriptors.
absl::Status SendWithFds(int socket, absl::Span<const char> bytes, absl::Span<const int> fds);
absl::StatusOr<size_t> ReceiveWithFds(int socket, absl::Span<char> buffer,
                                      std::vector<UniqueFd>* fds);

// Sends what the socket takes, with the descriptors beside the first byte. 0: the socket is full.
absl::StatusOr<size_t> SendSomeWithFds(int socket, absl::Span<const char> bytes,
                                       absl::Span<const int> fds);

// The kernel kills this process when the thread that spawned it ends, where the system can.
void DieWithParent();

// Hides it from other processes of this user and from core files, where the system can, for the
// life of the process.
void HideMemory();

// The kernel kills this process before its parent, where the system can.
void DieFirstOfMemory();

// Processes killed for lack of memory: in this cgroup if it counts them, otherwise on the host. 0
// if the system does not tell.
uint64_t OutOfMemoryKills();

// Names the calling thread; keeps 15 bytes.
void NameThread(const char* name);

// ---- the host ----

// The memory left to this process, in its cgroup (v1 or v2) and on the host.
uint64_t AvailableMemoryBytes();
uint64_t ResidentMemoryBytes(pid_t pid);

// Counts all threads since the start; 0: not known.
double CpuSeconds(pid_t pid);

// The part that affinity and cgroup quota leave; at least 1.
uint32_t UsableCores();

// Whether a waiting thread may keep a core busy: this process may use several, and some of the
// host's are idle.
bool CoresAreLeft();
inline constexpr uint32_t kFewCores = 4;  // none of them is ever left

// False only if there is certainly no gpu that libtorch supports. Does not ask the driver.
bool MayHaveGpu();

// By the file system's clock.
int64_t ModifiedNs(const struct stat& status);

absl::StatusOr<std::string> ExecutablePath();

// Leaves the program out. Empty if the system does not tell.
std::vector<std::string> Arguments();

// A path that reopens the file even if it was renamed or removed. Empty if the system has no path
// that a sandbox can allow.
std::string PathOfOpenFile(int fd);

}  // namespace mpsd::platform
