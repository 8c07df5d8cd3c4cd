// platform: the seam to the operating system. Everything that Linux and macOS do differently is
// behind these functions; platform_linux.cc and platform_macos.cc implement them side by side.
//
// All functions are thread-safe, and none blocks unless it says so. Errors carry errno's text,
// which is for the log and never for a client.
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

// One piece of anonymous shared memory: the creator's mapping, and descriptors for a peer. The
// creator unmaps `data`.
struct SharedMemory {
  void* data = nullptr;  // mapped read-write, `bytes` long, fully allocated
  uint64_t bytes = 0;
  UniqueFd writable_fd;  // for a peer that writes the content
  UniqueFd readonly_fd;  // for a peer that only reads: mapping it writable fails
};

// Which side writes the memory's content. kCreator: peers can only read (on Linux the object is
// sealed SHRINK|GROW|FUTURE_WRITE|SEAL). kPeer: one peer writes (sealed SHRINK|GROW|SEAL).
enum class SharedMemoryWriter { kCreator, kPeer };

// Allocates `bytes`, a multiple of PageBytes(), in steps. The caller has checked the budget.
absl::StatusOr<SharedMemory> CreateSharedMemory(uint64_t bytes, SharedMemoryWriter writer);

// Maps a peer's object. Fails if it is smaller than `bytes`.
absl::StatusOr<void*> MapSharedMemory(int fd, uint64_t bytes, bool writable);
void UnmapSharedMemory(void* data, uint64_t bytes);
uint64_t PageBytes();

// A shared-memory object that a client named, opened but not mapped. Its owner may change its
// content at any time, and its size if the system allows that.
struct NamedMemory {
  UniqueFd fd;
  uint64_t bytes = 0;
  uint64_t device = 0;  // with `inode`: identifies the object, whatever its names
  uint64_t inode = 0;
};
absl::StatusOr<NamedMemory> OpenNamedMemory(const std::string& name);

// Copy from or to the object without ever faulting. OUT_OF_RANGE if the object no longer holds the
// whole range. RESOURCE_EXHAUSTED if the owner has never touched a page and the system has no
// memory for it; a part of the range may be written then.
absl::Status ReadNamedMemory(int fd, uint64_t offset, absl::Span<char> target);
absl::Status WriteNamedMemory(int fd, uint64_t offset, absl::Span<const char> source);

// ---- sleeping ----

// Blocks until another thread or process wakes `word` or until `timeout_ns` have passed. Returns at
// once unless `word` holds `expected`. The mapping may be read-only. Returns false only if the
// time-out ended the sleep.
bool WaitOnWord(const std::atomic<uint32_t>* word, uint32_t expected, int64_t timeout_ns);

// Wakes one sleeper of `word`, in any process.
void WakeWord(const std::atomic<uint32_t>* word);

// A pollable bell: `poll_fd` is readable from a ring until the bell is cleared. A peer process may
// ring through `ring_fd`. Several rings before a clear count as one.
struct Bell {
  UniqueFd poll_fd;
  UniqueFd ring_fd;
};
absl::StatusOr<Bell> CreateBell();
void RingBell(int ring_fd);
void ClearBell(int poll_fd);
bool BellRings(int poll_fd);

// Waits for many descriptors and process exits at once. Thread-safe. A token may still be reported
// once after its removal.
class Poller {
 public:
  static absl::StatusOr<Poller> Create();

  absl::Status AddReadable(int fd, uint64_t token);
  void RemoveReadable(int fd);

  // Reports the token once, when the child `pid` has exited; the caller still reaps the child. The
  // returned descriptor must live until then; it is invalid if the platform needs none.
  absl::StatusOr<UniqueFd> AddExit(pid_t pid, uint64_t token);

  // Blocks until tokens are ready, and returns at most 64 of them; none after `timeout_ns`
  // (negative: no limit).
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
// Starts a program by posix_spawn, never by fork. The child has only descriptors 0..3, an empty
// signal mask and a process group of its own. The caller reaps the child.
absl::StatusOr<pid_t> Spawn(SpawnOptions options);

// A connected pair of stream sockets that no child inherits and that raise no SIGPIPE.
absl::StatusOr<std::pair<UniqueFd, UniqueFd>> SocketPair();

// Send and receive bytes with descriptors beside them; both block if the socket does. Receiving
// returns 0 bytes at end of file, and OUT_OF_RANGE when a non-blocking socket holds nothing.
// REQUIRES: at most kMaxMessageFds descriptors.
absl::Status SendWithFds(int socket, absl::Span<const char> bytes, absl::Span<const int> fds);
absl::StatusOr<size_t> ReceiveWithFds(int socket, absl::Span<char> buffer,
                                      std::vector<UniqueFd>* fds);

// Sends as much as the socket takes at once, with the descriptors beside the first byte. Returns
// how many bytes; 0 when the socket is full.
absl::StatusOr<size_t> SendSomeWithFds(int socket, absl::Span<const char> bytes,
                                       absl::Span<const int> fds);

// Asks the kernel to kill this process when the thread that spawned it ends, where the system can.
void DieWithParent();

// Stops other processes of this user from reading or changing this process's memory and
// descriptors, and the kernel from writing a core file, where the system can. Lasts for the life of
// the process.
void HideMemory();

// Asks the kernel to kill this process before its parent when memory runs out, where the system
// can.
void DieFirstOfMemory();

// How many processes the kernel has killed for lack of memory: in this memory cgroup if the cgroup
// counts them, otherwise on the host. 0 if the system does not tell.
uint64_t OutOfMemoryKills();

// Names the calling thread; at most 15 bytes are kept.
void NameThread(const char* name);

// ---- the host ----

// The memory still available to this process, within its cgroup (v1 or v2) and on the host.
uint64_t AvailableMemoryBytes();
uint64_t ResidentMemoryBytes(pid_t pid);

// Processor time of all threads of a process since its start; 0: not known.
double CpuSeconds(pid_t pid);

// The cores that affinity and cgroup quota leave to this process; at least 1.
uint32_t UsableCores();

// Whether a thread that waits for work may keep a core busy: this process may use several, and not
// all of the host's are at work now.
bool CoresAreLeft();
inline constexpr uint32_t kFewCores = 4;  // none of them is left ever

// False when there is certainly no gpu that libtorch supports. Does not ask the gpu's driver.
bool MayHaveGpu();

// When the content of the file was last written, by the file system's clock.
int64_t ModifiedNs(const struct stat& status);

absl::StatusOr<std::string> ExecutablePath();

// The arguments of this process, without its program; empty if the system does not tell them.
std::vector<std::string> Arguments();

// A path by which this process can reopen the file behind a descriptor, even if the file was
// renamed or removed. Empty if the system has no such path that a sandbox can allow.
std::string PathOfOpenFile(int fd);

}  // namespace mpsd::platform
