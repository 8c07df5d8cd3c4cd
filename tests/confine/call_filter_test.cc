// Runs the filter's program in an interpreter of the few instructions that it uses.
#include "proto/confine/call_filter.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/falloc.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace mpsd {
namespace {

constexpr pid_t kSelf = 4711;
constexpr uint32_t kDenied = SECCOMP_RET_ERRNO | EPERM;
#ifdef __x86_64__
constexpr uint32_t kNative = AUDIT_ARCH_X86_64;
constexpr uint32_t kForeign = AUDIT_ARCH_I386;
#else
constexpr uint32_t kNative = AUDIT_ARCH_AARCH64;
constexpr uint32_t kForeign = AUDIT_ARCH_ARM;
#endif

bool Test(uint16_t test, uint32_t left, uint32_t right) {
  if (test == BPF_JEQ) return left == right;
  if (test == BPF_JGT) return left > right;
  EXPECT_EQ(test, BPF_JSET);
  return (left & right) != 0;
}

uint32_t Run(const std::vector<sock_filter>& program, const seccomp_data& data) {
  uint32_t accumulator = 0;
  for (size_t i = 0; i < program.size(); ++i) {
    const sock_filter& instruction = program[i];
    switch (BPF_CLASS(instruction.code)) {
      case BPF_LD:
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + instruction.k, 4);
        break;
      case BPF_JMP:
        i += Test(BPF_OP(instruction.code), accumulator, instruction.k) ? instruction.jt
                                                                        : instruction.jf;
        break;
      default:
        return instruction.k;
    }
  }
  ADD_FAILURE() << "the program ran off its end";
  return 0;
}

constexpr DeniedCalls kBasic;
constexpr DeniedCalls kStrict{false, true};
constexpr DeniedCalls kNoSockets{true, false};

uint32_t Verdict(uint32_t call, std::vector<uint64_t> arguments = {}, DeniedCalls denied = kBasic,
                 uint32_t architecture = kNative) {
  seccomp_data data{};
  data.nr = static_cast<int>(call);
  data.arch = architecture;
  for (size_t i = 0; i < arguments.size(); ++i) data.args[i] = arguments[i];
  return Run(CallFilter(denied, kSelf), data);
}

TEST(CallFilter, FitsIntoTheKernel) {
  EXPECT_LE(CallFilter({true, true}, kSelf).size(), static_cast<size_t>(BPF_MAXINSNS));
}

TEST(CallFilter, AllowsWhatInferenceNeeds) {
  for (const uint32_t call : {SYS_read, SYS_write, SYS_futex, SYS_mmap, SYS_openat, SYS_recvmsg,
                              SYS_sendmsg, SYS_clock_nanosleep, SYS_exit_group, SYS_ioctl,
                              SYS_sched_setaffinity, SYS_memfd_create, SYS_rt_sigreturn}) {
    EXPECT_EQ(Verdict(call), SECCOMP_RET_ALLOW) << call;
    EXPECT_EQ(Verdict(call, {}, kStrict), SECCOMP_RET_ALLOW) << call;
  }
}

TEST(CallFilter, KillsForCallsOfAnotherInstructionSet) {
  EXPECT_EQ(Verdict(SYS_read, {}, kBasic, kForeign), SECCOMP_RET_KILL_PROCESS);
}

TEST(CallFilter, KnowsNoNewerCalls) {
  EXPECT_EQ(Verdict(463), SECCOMP_RET_ERRNO | ENOSYS);
  EXPECT_EQ(Verdict(0x40000000 + SYS_read), SECCOMP_RET_ERRNO | ENOSYS);
}

TEST(CallFilter, AThreadIsNoProcess) {
  EXPECT_EQ(Verdict(SYS_clone, {CLONE_VM | CLONE_FS | CLONE_THREAD}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(SYS_clone, {CLONE_VM | CLONE_VFORK}), kDenied);
  EXPECT_EQ(Verdict(SYS_clone, {CLONE_THREAD | CLONE_NEWNET}), kDenied);
  EXPECT_EQ(Verdict(SYS_clone3), SECCOMP_RET_ERRNO | ENOSYS);
}

// They are for CUDA's Multi-Process Service.
TEST(CallFilter, UnixSocketsAreForBasicAndForDevices) {
  for (const uint32_t call : {SYS_socket, SYS_socketpair}) {
    EXPECT_EQ(Verdict(call, {AF_UNIX}), SECCOMP_RET_ALLOW);
    EXPECT_EQ(Verdict(call, {AF_UNIX}, kNoSockets), kDenied);
  }
  EXPECT_EQ(Verdict(SYS_socket, {AF_UNIX}, kStrict), kDenied);
  for (const int family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK, AF_ALG}) {
    EXPECT_EQ(Verdict(SYS_socket, {static_cast<uint64_t>(family)}), kDenied) << family;
  }
}

// The kernel looks at only the low half of such an argument, and so must the filter.
TEST(CallFilter, TheUpperHalfOfAnArgumentIsNoWayRound) {
  EXPECT_EQ(Verdict(SYS_fallocate, {3, (7ULL << 32) | FALLOC_FL_PUNCH_HOLE}), kDenied);
  EXPECT_EQ(Verdict(SYS_socket, {(1ULL << 32) | AF_INET}), kDenied);
}

TEST(CallFilter, SignalsGoToItselfOnly) {
  EXPECT_EQ(Verdict(SYS_kill, {kSelf, 9}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(SYS_tgkill, {kSelf, 1, 6}), SECCOMP_RET_ALLOW);
  const uint64_t everybody = static_cast<uint32_t>(-1);
  for (const uint64_t other : {uint64_t{1}, uint64_t{0}, everybody, uint64_t{kSelf + 1}}) {
    EXPECT_EQ(Verdict(SYS_kill, {other, 9}), kDenied) << other;
    EXPECT_EQ(Verdict(SYS_tgkill, {other, kSelf, 9}), kDenied) << other;
  }
}

TEST(CallFilter, OtherProcessesMemoryAndFileHandlesAreForNobody) {
  constexpr uint32_t kProcessMadvise = 440;
  for (const uint32_t call :
       {uint32_t{SYS_process_vm_readv}, uint32_t{SYS_process_vm_writev}, kProcessMadvise,
        uint32_t{SYS_kcmp}, uint32_t{SYS_migrate_pages}, uint32_t{SYS_ptrace},
        uint32_t{SYS_pidfd_open}, uint32_t{SYS_pidfd_getfd}, uint32_t{SYS_pidfd_send_signal},
        uint32_t{SYS_name_to_handle_at}, uint32_t{SYS_open_by_handle_at}}) {
    EXPECT_EQ(Verdict(call), kDenied) << call;
  }
}

TEST(CallFilter, TheHostKeepsItsKernel) {
  for (const uint32_t call : {SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
                              SYS_kexec_file_load, SYS_reboot}) {
    EXPECT_EQ(Verdict(call), kDenied) << call;
  }
}

TEST(CallFilter, StrictLeavesNoQueuesTimesWatchesAndAttributes) {
  for (const uint32_t call :
       {SYS_shmget,     SYS_shmat,     SYS_shmctl,        SYS_semget,
        SYS_semctl,     SYS_semop,     SYS_semtimedop,    SYS_msgget,
        SYS_msgsnd,     SYS_msgrcv,    SYS_msgctl,        SYS_mq_open,
        SYS_mq_unlink,  SYS_utimensat, SYS_inotify_init1, SYS_inotify_add_watch,
        SYS_getxattr,   SYS_lgetxattr, SYS_fgetxattr,     SYS_listxattr,
        SYS_llistxattr, SYS_flistxattr}) {
    EXPECT_EQ(Verdict(call), SECCOMP_RET_ALLOW) << call;
    EXPECT_EQ(Verdict(call, {}, kStrict), kDenied) << call;
  }
}

TEST(CallFilter, LimitsAreItsOwn) {
  EXPECT_EQ(Verdict(SYS_prlimit64, {0}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(SYS_prlimit64, {kSelf}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(SYS_prlimit64, {1}), kDenied);
}

TEST(CallFilter, AShareOfTheProcessorsIsItsOwn) {
  for (const uint32_t call :
       {SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr, SYS_sched_setaffinity}) {
    EXPECT_EQ(Verdict(call, {0}), SECCOMP_RET_ALLOW) << call;
    EXPECT_EQ(Verdict(call, {kSelf}), SECCOMP_RET_ALLOW) << call;
    EXPECT_EQ(Verdict(call, {1}), kDenied) << call;
  }
}

TEST(CallFilter, AShareOfTheDisksIsItsOwn) {
  constexpr uint64_t kProcess = 1;
  EXPECT_EQ(Verdict(SYS_ioprio_set, {kProcess, 0}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(SYS_ioprio_set, {kProcess, kSelf}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(SYS_ioprio_set, {kProcess, 1}), kDenied);
  for (const uint64_t group_or_user : {2, 3}) {
    EXPECT_EQ(Verdict(SYS_ioprio_set, {group_or_user, 0}), kDenied) << group_or_user;
  }
}

TEST(CallFilter, SharedMemoryGetsNoHoles) {
  EXPECT_EQ(Verdict(SYS_fallocate, {3, 0}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(SYS_fallocate, {3, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE}), kDenied);
  EXPECT_EQ(Verdict(SYS_madvise, {0, 0, MADV_DONTNEED}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(SYS_madvise, {0, 0, MADV_REMOVE}), kDenied);
}

}  // namespace
}  // namespace mpsd
