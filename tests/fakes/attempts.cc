#include "tests/fakes/attempts.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "proto/base/fd.h"
#include "proto/base/platform.h"

namespace mpsd {
namespace {

bool IsDenial(int error) { return error == EPERM || error == EACCES || error == ENOSYS; }

int Outcome(int error) { return IsDenial(error) ? error : 0; }

// The outcome of a call that has just been made.
int Outcome(long result, int error) { return result < 0 ? Outcome(error) : 0; }

int Call(long result) { return Outcome(result, errno); }

int Open(const std::string& path, int flags) {
  const UniqueFd fd(open(path.c_str(), flags | O_CLOEXEC, 0600));
  return Call(fd.get());
}

std::string ParentFile(const char* name) {
  return "/proc/" + std::to_string(getppid()) + "/" + name;
}

std::string ScratchFile(const char* name) {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
}

int WriteOutside() {
  const std::string path = ScratchFile("../attempt");
  const int outcome = Open(path, O_WRONLY | O_CREAT);
  if (outcome == 0) unlink(path.c_str());
  return outcome;
}

// One end listens on the loopback interface, the other connects.
int ConnectByTcp() {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener.valid()) return Call(-1);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener.get(), generic, bytes) != 0 || listen(listener.get(), 1) != 0) return Call(-1);
  getsockname(listener.get(), generic, &bytes);
  const UniqueFd caller(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return Call(connect(caller.get(), generic, bytes));
}

int OpenSocket(int family, int type) {
  const UniqueFd fd(socket(family, type | SOCK_CLOEXEC, 0));
  return Call(fd.get());
}

int Fork() {
  const long pid = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) _exit(0);
  const int outcome = Call(pid);
  if (pid > 0) waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return outcome;
}

int SpawnProgram() {
  pid_t pid = -1;
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  const int error = posix_spawn(&pid, "/bin/true", nullptr, nullptr, arguments, nullptr);
  if (error == 0) waitpid(pid, nullptr, 0);
  return Outcome(error);
}

int Execute() {
  char* const nothing[] = {nullptr};
  return Call(execve("/nowhere/program", nothing, nothing));
}

int Trace() {
  const pid_t parent = getppid();
  if (ptrace(PTRACE_SEIZE, parent, nullptr, nullptr) != 0) return Call(-1);
  ptrace(PTRACE_INTERRUPT, parent, nullptr, nullptr);
  waitpid(parent, nullptr, __WALL);
  ptrace(PTRACE_DETACH, parent, nullptr, nullptr);
  return 0;
}

// Nothing is ever mapped there, so an attempt that is let through ends with EFAULT.
void* const kNothing = reinterpret_cast<void*>(16);

int ReadParentMemory() {
  char byte = 0;
  const iovec here{&byte, 1};
  const iovec there{kNothing, 1};
  return Call(process_vm_readv(getppid(), &here, 1, &there, 1, 0));
}

int WriteParentMemory() {
  char byte = 0;
  const iovec here{&byte, 1};
  const iovec there{kNothing, 1};
  return Call(process_vm_writev(getppid(), &here, 1, &there, 1, 0));
}

int SignalByDescriptor() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Call(-1);
  const UniqueFd source(ends[0]);
  const UniqueFd target(ends[1]);
  return Call(fcntl(source.get(), F_SETOWN, getppid()));
}

int LimitParent() {
  rlimit limit{};
  return Call(syscall(SYS_prlimit64, getppid(), RLIMIT_NOFILE, nullptr, &limit));
}

int ReniceParent() {
  const auto parent = static_cast<id_t>(getppid());
  return Call(setpriority(PRIO_PROCESS, parent, getpriority(PRIO_PROCESS, parent)));
}

int ScheduleParent() {
  const sched_param parameters{};
  return Call(sched_setscheduler(getppid(), SCHED_OTHER, &parameters));
}

int SetParametersOfParent() {
  sched_param parameters{};
  sched_getparam(getppid(), &parameters);
  return Call(sched_setparam(getppid(), &parameters));
}

int SetAttributesOfParent() {
  unsigned char attributes[48] = {};  // the kernel's struct sched_attr in its first version
  syscall(SYS_sched_getattr, getppid(), attributes, sizeof(attributes), 0);
  return Call(syscall(SYS_sched_setattr, getppid(), attributes, 0));
}

int PinParent() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  sched_getaffinity(getppid(), sizeof(processors), &processors);
  return Call(sched_setaffinity(getppid(), sizeof(processors), &processors));
}

// Asks for a priority that does not exist, so an attempt that is let through ends with EINVAL.
int SetDiskPriority(int of_whom, pid_t who) {
  return Call(syscall(SYS_ioprio_set, of_whom, who, 0xffff));
}

// The memory that the worker shares with the front end; without a front end, memory made alike.
int PunchHole(bool by_mapping) {
  const uint64_t bytes = platform::PageBytes();
  absl::StatusOr<platform::SharedMemory> memory =
      platform::CreateSharedMemory(bytes, platform::SharedMemoryWriter::kPeer);
  if (!memory.ok()) return ENOSYS;
  platform::UnmapSharedMemory(memory->data, bytes);
  const int fd = memory->writable_fd.get();
  if (!by_mapping) {
    return Call(
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)));
  }
  const absl::StatusOr<void*> data = platform::MapSharedMemory(fd, bytes, /*writable=*/true);
  if (!data.ok()) return ENOSYS;
  const int outcome = Call(madvise(*data, bytes, MADV_REMOVE));
  platform::UnmapSharedMemory(*data, bytes);
  return outcome;
}

// The last page of this worker's segment, far from the part that small answers use.
int PunchSegment() {
  std::ifstream maps("/proc/self/maps");
  unsigned long end = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" rw-s ") == std::string::npos || line.find("/memfd:mpsd") == std::string::npos) {
      continue;
    }
    std::sscanf(line.c_str(), "%*x-%lx", &end);
  }
  if (end == 0) return PunchHole(/*by_mapping=*/true);
  const uint64_t bytes = platform::PageBytes();
  return Call(madvise(reinterpret_cast<void*>(end - bytes), bytes, MADV_REMOVE));
}

// Does what the ahead-of-time compiled formats do: writes code into the temporary folder and maps
// it.
int MapCodeFromScratch() {
  const std::string path = ScratchFile("code");
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return Call(-1);
  unlink(path.c_str());
  if (ftruncate(fd.get(), 4096) != 0) return Call(-1);
  void* code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
  if (code == MAP_FAILED) return Call(-1);
  munmap(code, 4096);
  return 0;
}

int StartThread() {
  std::thread([] {}).join();
  return 0;
}

// Whether a capability is left besides the one to read the files of other users.
int HoldCapability() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (syscall(SYS_capget, &header, sets) != 0) return Call(-1);
  constexpr uint32_t kReadFiles = 1U << CAP_DAC_READ_SEARCH;
  return ((sets[0].permitted & ~kReadFiles) | sets[1].permitted) != 0 ? 0 : EPERM;
}

// A semaphore that does not exist, so an attempt that is let through ends with EINVAL.
int UseSemaphore(long call) {
  sembuf step{};
  return Call(syscall(call, -1, &step, 1, nullptr));
}

// Room for no handle, so an attempt that is let through ends with EOVERFLOW.
int NameHandle() {
  unsigned int handle[2] = {};
  int mount = 0;
  return Call(syscall(SYS_name_to_handle_at, AT_FDCWD, ".", handle, &mount, 0));
}

int OpenHandle() {
  unsigned int handle[4] = {8, 0, 0, 0};
  return Call(syscall(SYS_open_by_handle_at, -1, handle, O_RDONLY));
}

constexpr long kProcessMadvise = 440;
constexpr int kCompareMemory = 1;  // KCMP_VM

const std::vector<Attempt> kAttempts = {
    {"use_scratch_folder", Reach::kEverybody, false, MapCodeFromScratch},
    {"start_thread", Reach::kEverybody, false, StartThread},
    {"signal_self", Reach::kEverybody, false, [] { return Call(kill(getpid(), 0)); }},
    {"read_own_status", Reach::kEverybody, false,
     [] { return Open("/proc/self/status", O_RDONLY); }},
    {"write_null", Reach::kEverybody, false, [] { return Open("/dev/null", O_WRONLY); }},
    {"open_unix_socket", Reach::kNobody, false, [] { return OpenSocket(AF_UNIX, SOCK_STREAM); }},
    {"open_socket_pair", Reach::kNobody, false,
     [] {
       int ends[2] = {-1, -1};
       const int outcome = Call(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
       const UniqueFd one(ends[0]);
       const UniqueFd other(ends[1]);
       return outcome;
     }},
    {"use_semaphore", Reach::kBasic, false, [] { return UseSemaphore(SYS_semop); }},
    {"use_semaphore_for_a_time", Reach::kBasic, false, [] { return UseSemaphore(SYS_semtimedop); }},
    {"set_times", Reach::kBasic, false, [] { return Call(utimensat(-1, "file", nullptr, 0)); }},
    {"watch_file", Reach::kBasic, false,
     [] {
       const UniqueFd fd(inotify_init1(IN_CLOEXEC));
       return Call(fd.get());
     }},
    {"watch_file_again", Reach::kBasic, false, [] { return Call(inotify_add_watch(-1, "/", 1)); }},
    {"read_attribute", Reach::kBasic, false,
     [] { return Call(getxattr("/nowhere/file", "user.a", nullptr, 0)); }},
    {"list_attributes", Reach::kBasic, false,
     [] { return Call(listxattr("/nowhere/file", nullptr, 0)); }},
    {"read_connections", Reach::kBasic, false,
     [] { return Open("/proc/self/net/unix", O_RDONLY); }},
    {"read_mounts", Reach::kBasic, false, [] { return Open("/proc/self/mountinfo", O_RDONLY); }},
    {"uncover_memory", Reach::kBasic, false,
     [] { return Call(prctl(PR_SET_DUMPABLE, prctl(PR_GET_DUMPABLE))); }},
    {"read_users", Reach::kNobody, false, [] { return Open("/etc/passwd", O_RDONLY); }},
    {"list_root", Reach::kNobody, false, [] { return Open("/", O_RDONLY | O_DIRECTORY); }},
    {"write_outside", Reach::kNobody, false, WriteOutside},
    {"change_mode", Reach::kNobody, false, [] { return Call(chmod("/nowhere/file", 0)); }},
    {"connect_by_tcp", Reach::kNobody, false, ConnectByTcp},
    {"open_inet6_socket", Reach::kNobody, false, [] { return OpenSocket(AF_INET6, SOCK_DGRAM); }},
    {"open_netlink_socket", Reach::kNobody, false, [] { return OpenSocket(AF_NETLINK, SOCK_RAW); }},
    {"open_packet_socket", Reach::kNobody, true, [] { return OpenSocket(AF_PACKET, SOCK_RAW); }},
    {"fork", Reach::kNobody, false, Fork},
    {"clone3", Reach::kNobody, false, [] { return Call(syscall(SYS_clone3, nullptr, 0)); }},
    {"spawn", Reach::kNobody, false, SpawnProgram},
    {"execute", Reach::kNobody, false, Execute},
    {"trace_parent", Reach::kNobody, true, Trace},
    {"read_parent_memory", Reach::kNobody, true, ReadParentMemory},
    {"write_parent_memory", Reach::kNobody, true, WriteParentMemory},
    {"open_parent_memory", Reach::kNobody, true, [] { return Open(ParentFile("mem"), O_RDWR); }},
    {"open_parent_environment", Reach::kNobody, true,
     [] { return Open(ParentFile("environ"), O_RDONLY); }},
    {"open_parent_status", Reach::kNobody, false,
     [] { return Open(ParentFile("status"), O_RDONLY); }},
    {"open_pidfd", Reach::kNobody, false,
     [] {
       const UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0)));
       return Call(fd.get());
     }},
    {"take_descriptor", Reach::kNobody, false,
     [] { return Call(syscall(SYS_pidfd_getfd, -1, 0, 0)); }},
    {"advise_memory_of_process", Reach::kNobody, false,
     [] { return Call(syscall(kProcessMadvise, -1, nullptr, 0, MADV_COLD, 0)); }},
    {"compare_processes", Reach::kNobody, true,
     [] { return Call(syscall(SYS_kcmp, getpid(), getpid(), kCompareMemory, 0, 0)); }},
    {"migrate_pages", Reach::kNobody, false,
     [] { return Call(syscall(SYS_migrate_pages, getpid(), 0, nullptr, nullptr)); }},
    {"name_handle", Reach::kNobody, false, NameHandle},
    {"open_handle", Reach::kNobody, true, OpenHandle},
    {"hold_capability", Reach::kNobody, true, HoldCapability},
    {"signal_parent", Reach::kNobody, false, [] { return Call(kill(getppid(), 0)); }},
    {"signal_group", Reach::kNobody, false, [] { return Call(kill(0, 0)); }},
    {"signal_everybody", Reach::kNobody, false, [] { return Call(kill(-1, 0)); }},
    {"signal_parent_thread", Reach::kNobody, false,
     [] { return Call(syscall(SYS_tgkill, getppid(), getppid(), 0)); }},
    {"signal_any_thread", Reach::kNobody, false,
     [] { return Call(syscall(SYS_tkill, getppid(), 0)); }},
    {"signal_by_descriptor", Reach::kNobody, false, SignalByDescriptor},
    {"outlive_parent", Reach::kNobody, false,
     [] { return Call(prctl(PR_SET_PDEATHSIG, SIGKILL)); }},
    {"limit_parent", Reach::kNobody, false, LimitParent},
    {"renice_parent", Reach::kNobody, false, ReniceParent},
    {"schedule_parent", Reach::kNobody, false, ScheduleParent},
    {"set_parameters_of_parent", Reach::kNobody, false, SetParametersOfParent},
    {"set_attributes_of_parent", Reach::kNobody, false, SetAttributesOfParent},
    {"pin_parent", Reach::kNobody, false, PinParent},
    {"set_disk_priority_of_parent", Reach::kNobody, false,
     [] { return SetDiskPriority(/*of_whom=*/1, getppid()); }},
    {"set_disk_priority_of_group", Reach::kNobody, false,
     [] { return SetDiskPriority(/*of_whom=*/2, 0); }},
    {"pin_self", Reach::kEverybody, false,
     [] {
       cpu_set_t processors;
       CPU_ZERO(&processors);
       sched_getaffinity(0, sizeof(processors), &processors);
       return Call(sched_setaffinity(0, sizeof(processors), &processors));
     }},
    {"punch_hole", Reach::kNobody, false, [] { return PunchHole(/*by_mapping=*/false); }},
    {"punch_hole_by_mapping", Reach::kNobody, false, [] { return PunchHole(/*by_mapping=*/true); }},
    {"punch_own_segment", Reach::kNobody, false, PunchSegment},
    {"type_into_terminal", Reach::kNobody, false,
     [] {
       char letter = 'x';
       return Call(ioctl(0, TIOCSTI, &letter));
     }},
    {"leave_namespace", Reach::kNobody, false, [] { return Call(unshare(CLONE_FS)); }},
    {"mount", Reach::kNobody, true,
     [] { return Call(mount("none", "/nowhere", "tmpfs", 0, nullptr)); }},
    {"load_bpf", Reach::kNobody, true, [] { return Call(syscall(SYS_bpf, -1, nullptr, 0)); }},
    {"open_perf_event", Reach::kNobody, true,
     [] { return Call(syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0)); }},
    {"open_userfaultfd", Reach::kNobody, true, [] { return Call(syscall(SYS_userfaultfd, ~0)); }},
    {"use_keyring", Reach::kNobody, true, [] { return Call(syscall(SYS_keyctl, -1, 0, 0, 0, 0)); }},
    {"set_up_io_uring", Reach::kNobody, true,
     [] { return Call(syscall(SYS_io_uring_setup, 0, nullptr)); }},
};

}  // namespace

const std::vector<Attempt>& Attempts() { return kAttempts; }

}  // namespace mpsd
