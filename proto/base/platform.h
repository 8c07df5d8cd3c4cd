// The seam to the operating system. Everything that Linux and macOS do differently is behind these
// functions: platform_linux.cc and platform_macos.cc implement them side by side.
// All are thread-safe. Errors carry errno's text, for the log and never for a client.
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

// One piece of anonymous shared memory: the owner's mapping and what a peer may get.
struct SharedMemory {
  void* data = nullptr;  // mapped read-write, `bytes` long, all of it allocated
  uint64_t bytes = 0;
  UniqueFd writable_fd;  // for a peer that owns the content
  UniqueFd readonly_fd;  // for a peer that reads: mapping it writable fails
};

// Who writes the memory's content. kCreator: the peers can only read (Linux: sealed
// SHRINK|GROW|FUTURE_WRITE|SEAL). kPeer: one peer writes (sealed SHRINK|GROW|SEAL).
enum class SharedMemoryWriter { kCreator, kPeer };

// Allocates `bytes` (a multiple of PageBytes()) in steps. The caller has checked the budget.
absl::StatusOr<SharedMemory> CreateSharedMemory(uint64_t bytes, SharedMemoryWriter writer);

// Maps what a peer sent. Fails when the object is smaller than `bytes`.
absl::StatusOr<void*> MapSharedMemory(int fd, uint64_t bytes, bool writable);
void UnmapSharedMemory(void* data, uint64_t bytes);
uint64_t PageBytes();

// A shared-memory object of a name that a client said, opened and not mapped: its owner may change
// its content and, where the system lets him, its size at any time.
struct NamedMemory {
  UniqueFd fd;
  uint64_t bytes = 0;
  uint64_t device = 0;  // with `inode`: which object it is, whatever its names
  uint64_t inode = 0;
};
absl::StatusOr<NamedMemory> OpenNamedMemory(const std::string& name);

// Copy from and to the object, and never fault. False when it no longer holds the whole range.
bool ReadNamedMemory(int fd, uint64_t offset, absl::Span<char> target);
bool WriteNamedMemory(int fd, uint64_t offset, absl::Span<const char> source);

// ---- sleeping ----

// Sleeps until somebody wakes `word`, unless it no longer holds `expected`, or `timeout_ns` passed.
// The mapping may be read-only. Returns false only when it was the time-out that ended the sleep.
bool WaitOnWord(const std::atomic<uint32_t>* word, uint32_t expected, int64_t timeout_ns);

// Wakes one sleeper of `word`, in whatever process.
void WakeWord(const std::atomic<uint32_t>* word);

// A pollable bell: readable after a ring, until it is cleared. Rings may come from a peer process
// through `ring_fd`.
struct Bell {
  UniqueFd poll_fd;
  UniqueFd ring_fd;
};
absl::StatusOr<Bell> CreateBell();
void RingBell(int ring_fd);
void ClearBell(int poll_fd);
bool BellRings(int poll_fd);

// Waits for many descriptors and process exits at once. Lives on one thread, but AddReadable() and
// RemoveReadable() are thread-safe: a token may still be reported once after the removal.
class Poller {
 public:
  static absl::StatusOr<Poller> Create();

  absl::Status AddReadable(int fd, uint64_t token);
  void RemoveReadable(int fd);

  // The token is reported once, when the child `pid` has exited; the caller still reaps it. The
  // descriptor that is returned (invalid where the platform needs none) must live until then.
  absl::StatusOr<UniqueFd> AddExit(pid_t pid, uint64_t token);

  // The tokens that are ready, at most 64; none after `timeout_ns` (negative: no limit).
  const std::vector<uint64_t>& Wait(int64_t timeout_ns);

 private:
  UniqueFd fd_;
  std::vector<uint64_t> ready_;
};

// ---- processes ----

struct SpawnOptions {
  std::string path;
  std::vector<std::string> arguments;    // argv[1...]
  std::vector<std::string> environment;  // whole, "NAME=value"
  UniqueFd control_fd;                   // becomes descriptor 3
  UniqueFd output_fd;                    // becomes stdout and stderr
};
// posix_spawn, never a fork: descriptors other than 0..3 are closed, the signal mask is empty, the
// process group is its own.
absl::StatusOr<pid_t> Spawn(SpawnOptions options);

// A connected pair of stream sockets that no child inherits and that raise no SIGPIPE.
absl::StatusOr<std::pair<UniqueFd, UniqueFd>> SocketPair();

// Sends and receives bytes with descriptors beside them. Receive returns 0 bytes at end of file;
// OUT_OF_RANGE when the socket does not block and holds nothing.
absl::Status SendWithFds(int socket, absl::Span<const char> bytes, absl::Span<const int> fds);
absl::StatusOr<size_t> ReceiveWithFds(int socket, absl::Span<char> buffer,
                                      std::vector<UniqueFd>* fds);

// Sends what the socket takes at once, and the descriptors with its first byte. Returns how much; 0
// when it is full.
absl::StatusOr<size_t> SendSomeWithFds(int socket, absl::Span<const char> bytes,
                                       absl::Span<const int> fds);

// Asks the kernel to kill this process when its parent's spawning thread ends, where it can.
void DieWithParent();

// Lets no other process of this user read or change this one's memory and descriptors, nor the
// kernel write them to a core file, where the system can. For the life of the process.
void HideMemory();

// When memory is short this process is to be killed before its parent, if the kernel can be told.
void DieFirstOfMemory();

// Processes that the kernel has killed for want of memory, in this memory cgroup if it counts them,
// else on the host; 0 where it tells nobody.
uint64_t OutOfMemoryKills();

// Names the calling thread (15 bytes at most are kept).
void NameThread(const char* name);

// ---- the host ----

// What is left to this process by its memory cgroup (v1 or v2) and by the host.
uint64_t AvailableMemoryBytes();
uint64_t ResidentMemoryBytes(pid_t pid);

// Cores this process may use, by affinity and cgroup quota; at least 1.
uint32_t UsableCores();

// False where there is certainly no gpu that libtorch knows, without asking its driver.
bool MayHaveGpu();

// When the content of the file was last written, by the file system's clock.
int64_t ModifiedNs(const struct stat& status);

// The running executable's path.
absl::StatusOr<std::string> ExecutablePath();

}  // namespace mpsd::platform
