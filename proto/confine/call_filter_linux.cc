#include <linux/audit.h>
#include <linux/falloc.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "proto/confine/call_filter.h"

namespace mpsd {
namespace {

// When a call is denied. "The argument" is the argument's low half: the kernel reads no more.
enum class When {
  kAlways,
  kEqual,
  kNotEqual,
  kAnyBit,   // some bit of the value is set
  kNoBit,    // no bit of the value is set
  kNotSelf,  // another process's number
  kNeitherSelfNorZero,
};

struct Rule {
  uint32_t call;
  When when = When::kAlways;
  uint8_t argument = 0;
  uint32_t value = 0;
  uint16_t error = EPERM;
};

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

// From 424 on numbers are the same on all processors; headers may be too old.
constexpr uint32_t kProcessMadvise = 440;
constexpr uint32_t kMountSetattr = 442;
constexpr uint32_t kFchmodat2 = 452;
constexpr uint32_t kLastKnownCall = 462;

constexpr uint32_t kNewNamespaces = 0x7e020080;  // the CLONE_NEW… flags of clone()
constexpr uint32_t kOwnSocket = 0x8901;          // FIOSETOWN
constexpr uint32_t kOwnSocketGroup = 0x8902;     // SIOCSPGRP
constexpr uint32_t kPriorityOfProcess = 1;       // IOPRIO_WHO_PROCESS
constexpr uint32_t kSetOwner = 8;                // F_SETOWN
constexpr uint32_t kSetSignal = 10;              // F_SETSIG
constexpr uint32_t kSetOwnerExtended = 15;       // F_SETOWN_EX

constexpr Rule kBasicRules[] = {
    // A clone without CLONE_THREAD makes a process. The flags of clone3 are invisible: with ENOSYS
    // the C library falls back to clone.
    {SYS_execve},
    {SYS_execveat},
    {SYS_clone, When::kNoBit, 0, CLONE_THREAD},
    {SYS_clone, When::kAnyBit, 0, kNewNamespaces},
    {SYS_clone3, When::kAlways, 0, 0, ENOSYS},
#ifdef __x86_64__
    {SYS_fork},
    {SYS_vfork},
#endif
    // Other processes' memory, descriptors, limits and scheduling. A filter cannot tell other
    // threads from other processes, so each thread can set only its own.
    {SYS_ptrace},
    {SYS_process_vm_readv},
    {SYS_process_vm_writev},
    {kProcessMadvise},
    {SYS_kcmp},
    {SYS_pidfd_open},
    {SYS_pidfd_getfd},
    {SYS_pidfd_send_signal},
    {SYS_migrate_pages},
    {SYS_move_pages, When::kNeitherSelfNorZero, 0},
    {SYS_prlimit64, When::kNeitherSelfNorZero, 0},
    {SYS_setpriority, When::kNotEqual, 0, 0},
    {SYS_setpriority, When::kNotEqual, 1, 0},
    {SYS_sched_setscheduler, When::kNeitherSelfNorZero, 0},
    {SYS_sched_setparam, When::kNeitherSelfNorZero, 0},
    {SYS_sched_setattr, When::kNeitherSelfNorZero, 0},
    {SYS_sched_setaffinity, When::kNeitherSelfNorZero, 0},
    {SYS_ioprio_set, When::kNotEqual, 0, kPriorityOfProcess},
    {SYS_ioprio_set, When::kNeitherSelfNorZero, 1},
    // Signals to others; a descriptor's owner gets signals too. The signal for the front end's
    // death cannot be turned off.
    {SYS_kill, When::kNotSelf, 0},
    {SYS_tkill},
    {SYS_tgkill, When::kNotSelf, 0},
    {SYS_rt_sigqueueinfo, When::kNotSelf, 0},
    {SYS_rt_tgsigqueueinfo, When::kNotSelf, 0},
    {SYS_fcntl, When::kEqual, 1, kSetOwner},
    {SYS_fcntl, When::kEqual, 1, kSetSignal},
    {SYS_fcntl, When::kEqual, 1, kSetOwnerExtended},
    {SYS_ioctl, When::kEqual, 1, kOwnSocket},
    {SYS_ioctl, When::kEqual, 1, kOwnSocketGroup},
    {SYS_ioctl, When::kEqual, 1, TIOCSTI},
    {SYS_prctl, When::kEqual, 0, PR_SET_PDEATHSIG},
    // The network. CUDA's Multi-Process Service and another process's device memory need Unix
    // sockets, which kSocketRules denies too.
    {SYS_socket, When::kNotEqual, 0, AF_UNIX},
    {SYS_socketpair, When::kNotEqual, 0, AF_UNIX},
    // The kernel would make calls for the process without this filter.
    {SYS_io_uring_setup},
    {SYS_io_uring_enter},
    {SYS_io_uring_register},
    // Seals of size do not prevent holes in shared memory.
    {SYS_fallocate, When::kAnyBit, 1, FALLOC_FL_PUNCH_HOLE},
    {SYS_madvise, When::kEqual, 2, MADV_REMOVE},
    // Landlock does not control modes, owners, attributes and handles.
    {SYS_fchmod},
    {SYS_fchmodat},
    {kFchmodat2},
    {SYS_fchown},
    {SYS_fchownat},
#ifdef __x86_64__
    {SYS_chmod},
    {SYS_chown},
    {SYS_lchown},
#endif
    {SYS_setxattr},
    {SYS_lsetxattr},
    {SYS_fsetxattr},
    {SYS_removexattr},
    {SYS_lremovexattr},
    {SYS_fremovexattr},
    {SYS_name_to_handle_at},
    {SYS_open_by_handle_at},
    // Mounts and namespaces.
    {SYS_mount},
    {SYS_umount2},
    {SYS_pivot_root},
    {SYS_chroot},
    {SYS_open_tree},
    {SYS_move_mount},
    {SYS_fsopen},
    {SYS_fsconfig},
    {SYS_fsmount},
    {SYS_fspick},
    {kMountSetattr},
    {SYS_unshare},
    {SYS_setns},
    // Nobody here needs them, and they have been exploited.
    {SYS_bpf},
    {SYS_perf_event_open},
    {SYS_userfaultfd},
    {SYS_keyctl},
    {SYS_add_key},
    {SYS_request_key},
    {SYS_fanotify_init},
    {SYS_personality, When::kNotEqual, 0, 0xffffffff},
    // The host's own settings.
    {SYS_init_module},
    {SYS_finit_module},
    {SYS_delete_module},
    {SYS_kexec_load},
    {SYS_reboot},
    {SYS_swapon},
    {SYS_swapoff},
    {SYS_acct},
    {SYS_quotactl},
    {SYS_syslog},
    {SYS_settimeofday},
    {SYS_clock_settime},
    {SYS_adjtimex},
    {SYS_clock_adjtime},
    {SYS_sethostname},
    {SYS_setdomainname},
#ifdef __x86_64__
    {SYS_iopl},
    {SYS_ioperm},
    {SYS_modify_ldt},
#endif
#ifdef SYS_kexec_file_load  // arm64's is younger than some headers
    {SYS_kexec_file_load},
#endif
};

// A model on the cpu needs only the worker's descriptors. The kernel limits each user's descriptors
// in transit through Unix sockets: a worker could use up what the front end needs.
constexpr Rule kSocketRules[] = {{SYS_socket}, {SYS_socketpair}};

constexpr Rule kStrictRules[] = {
    {SYS_socket},
    {SYS_socketpair},
    {SYS_connect},
    {SYS_bind},
    {SYS_listen},
    {SYS_accept},
    {SYS_accept4},
    {SYS_shmget},
    {SYS_shmat},
    {SYS_shmctl},
    {SYS_semget},
    {SYS_semctl},
    {SYS_semop},
    {SYS_semtimedop},  // for the C library's semop()
    {SYS_msgget},
    {SYS_msgsnd},
    {SYS_msgrcv},
    {SYS_msgctl},
    {SYS_mq_open},
    {SYS_mq_unlink},
    {SYS_prctl, When::kEqual, 0, PR_SET_DUMPABLE},
    // Landlock keeps these files closed. The call stat() stays: the C library gets an open file's
    // size by it.
    {SYS_utimensat},
    {SYS_inotify_init1},
    {SYS_inotify_add_watch},
#ifdef __x86_64__
    {SYS_utime},
    {SYS_utimes},
    {SYS_futimesat},
    {SYS_inotify_init},
#endif
    {SYS_getxattr},
    {SYS_lgetxattr},
    {SYS_fgetxattr},
    {SYS_listxattr},
    {SYS_llistxattr},
    {SYS_flistxattr},
};

// Between two rules the accumulator holds the call's number.
class Assembler {
 public:
  explicit Assembler(uint32_t own_pid) : own_pid_(own_pid) {}

  void Begin() {
    Load(offsetof(seccomp_data, arch));
    SkipIf(BPF_JEQ, kArchitecture);
    Return(SECCOMP_RET_KILL_PROCESS);
    Load(offsetof(seccomp_data, nr));
    // Also refuses x32's numbers, which are larger.
    UnlessSkip(BPF_JGT, kLastKnownCall);
    Return(SECCOMP_RET_ERRNO | ENOSYS);
  }

  void Add(const Rule& rule) {
    if (rule.when == When::kAlways) {
      UnlessSkip(BPF_JEQ, rule.call);
      Return(SECCOMP_RET_ERRNO | rule.error);
      return;
    }
    // Skips the whole rule, with its last load, for another call.
    const size_t about_another = program_.size();
    Jump(BPF_JEQ, rule.call, 0, 0);
    Load(offsetof(seccomp_data, args) + rule.argument * sizeof(uint64_t));
    AddCondition(rule);
    Return(SECCOMP_RET_ERRNO | rule.error);
    Load(offsetof(seccomp_data, nr));
    program_[about_another].jf = static_cast<uint8_t>(program_.size() - about_another - 1);
  }

  std::vector<sock_filter> End() {
    Return(SECCOMP_RET_ALLOW);
    return std::move(program_);
  }

 private:
  // The next instruction runs exactly if the rule denies the call.
  void AddCondition(const Rule& rule) {
    switch (rule.when) {
      case When::kAlways:
        return;
      case When::kEqual:
        return UnlessSkip(BPF_JEQ, rule.value);
      case When::kNotEqual:
        return SkipIf(BPF_JEQ, rule.value);
      case When::kAnyBit:
        return UnlessSkip(BPF_JSET, rule.value);
      case When::kNoBit:
        return SkipIf(BPF_JSET, rule.value);
      case When::kNotSelf:
        return SkipIf(BPF_JEQ, own_pid_);
      case When::kNeitherSelfNorZero:
        Jump(BPF_JEQ, own_pid_, 2, 0);
        return SkipIf(BPF_JEQ, 0);
    }
  }

  void Load(size_t offset) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "an argument's low half comes first");
    program_.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(offset)});
  }
  void Return(uint32_t verdict) { program_.push_back({BPF_RET | BPF_K, 0, 0, verdict}); }
  void SkipIf(uint16_t test, uint32_t value) { Jump(test, value, 1, 0); }
  void UnlessSkip(uint16_t test, uint32_t value) { Jump(test, value, 0, 1); }
  void Jump(uint16_t test, uint32_t value, uint8_t if_true, uint8_t if_false) {
    program_.push_back({static_cast<uint16_t>(BPF_JMP | test | BPF_K), if_true, if_false, value});
  }

  const uint32_t own_pid_;
  std::vector<sock_filter> program_;
};

}  // namespace

std::vector<sock_filter> CallFilter(const DeniedCalls& denied, pid_t own_pid) {
  if (kArchitecture == 0) return {};
  Assembler assembler(static_cast<uint32_t>(own_pid));
  assembler.Begin();
  for (const Rule& rule : kBasicRules) assembler.Add(rule);
  if (denied.new_sockets) {
    for (const Rule& rule : kSocketRules) assembler.Add(rule);
  }
  if (denied.strict) {
    for (const Rule& rule : kStrictRules) assembler.Add(rule);
  }
  return assembler.End();
}

}  // namespace mpsd
