// A libcuda.so.1 without a device: the memory of its devices is files, whose paths the handles
// hold. It has the functions that mpsd-device-copier calls. Instead of calling the functions that
// make a handle, a test writes "FAKE" and the path.
//   FAKE_CUDA_DEVICES   how many devices there are; 1 unless set
//   FAKE_CUDA_INIT      what cuInit() returns
// The end of a file's name makes copies of the file misbehave:
//   .hang   never returns           .crash  ends the process
//   .fail   returns an error        .lost   returns an error that makes the device useless
//   .seize  tries what a client would who had a hole in the driver; returns how much was possible

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <string>

namespace {

constexpr int kInvalidValue = 1;
constexpr int kNoDevice = 100;
constexpr int kInvalidDevice = 101;
constexpr int kInvalidContext = 201;
constexpr int kIllegalAddress = 700;
constexpr int kSeized = 2000;
constexpr char kMagic[] = "FAKE";

using Pointer = unsigned long long;

struct Memory {
  size_t bytes = 0;
  std::string path;
  int opened = 0;
};

std::map<Pointer, Memory> g_memories;
int g_current_device = -1;

int NumberOf(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool MakesSocket(int family) {
  const int fd = socket(family, SOCK_STREAM, 0);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

bool MakesProcess() {
  const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) _exit(0);
  if (child > 0) waitpid(static_cast<pid_t>(child), nullptr, 0);
  return child >= 0;
}

bool StartsProgram() {
  execl("/no/such/program", "program", nullptr);
  return errno == ENOENT;
}

bool MakesThread() {
  pthread_t thread;
  const auto main = [](void*) -> void* { return nullptr; };
  return pthread_create(&thread, nullptr, main, nullptr) == 0 && pthread_join(thread, nullptr) == 0;
}

// The driver itself needs threads and, for the memory of other processes, Unix sockets.
int Seize() {
  const bool seized[] = {MakesSocket(AF_INET),
                         MakesSocket(AF_INET6),
                         MakesProcess(),
                         StartsProgram(),
                         kill(getppid(), 0) == 0,
                         ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0,
                         prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0,
                         prctl(PR_GET_DUMPABLE) != 0,
                         !MakesThread(),
                         !MakesSocket(AF_UNIX)};
  const auto count = static_cast<int>(std::count(std::begin(seized), std::end(seized), true));
  return count == 0 ? 0 : kSeized + count;
}

// The error that the memory's name asks for; 0: an honest copy.
int Misbehave(const Memory& memory) {
  if (EndsWith(memory.path, ".hang")) {
    for (;;) pause();
  }
  if (EndsWith(memory.path, ".crash")) std::raise(SIGKILL);
  if (EndsWith(memory.path, ".lost")) return kIllegalAddress;
  if (EndsWith(memory.path, ".seize")) return Seize();
  return EndsWith(memory.path, ".fail") ? kInvalidValue : 0;
}

// The memory that holds the whole range; null when none does.
const Memory* Holder(Pointer pointer, size_t bytes) {
  for (const auto& [base, memory] : g_memories) {
    if (pointer >= base && pointer - base <= memory.bytes &&
        bytes <= memory.bytes - (pointer - base)) {
      return &memory;
    }
  }
  return nullptr;
}

int Copy(void* target, const void* source, Pointer device, size_t bytes) {
  if (g_current_device < 0) return kInvalidContext;
  const Memory* memory = Holder(device, bytes);
  if (memory == nullptr) return kInvalidValue;
  if (const int error = Misbehave(*memory); error != 0) return error;
  std::memcpy(target, source, bytes);
  return 0;
}

}  // namespace

extern "C" {

struct FakeHandle {
  char bytes[64];
};

int cuInit(unsigned int) { return NumberOf("FAKE_CUDA_INIT", 0); }

int cuDeviceGetCount(int* count) {
  *count = NumberOf("FAKE_CUDA_DEVICES", 1);
  return *count > 0 ? 0 : kNoDevice;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < NumberOf("FAKE_CUDA_DEVICES", 1) ? 0 : kInvalidDevice;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  static int contexts[64];
  contexts[device] = device;
  *context = &contexts[device];
  return 0;
}

int cuCtxSetCurrent(void* context) {
  g_current_device = *static_cast<int*>(context);
  return 0;
}

int cuIpcOpenMemHandle_v2(Pointer* pointer, FakeHandle handle, unsigned int) {
  if (g_current_device < 0) return kInvalidContext;
  if (std::memcmp(handle.bytes, kMagic, 4) != 0 || handle.bytes[63] != '\0') return kInvalidValue;
  const std::string path = handle.bytes + 4;
  for (auto& [base, memory] : g_memories) {
    if (memory.path != path) continue;
    ++memory.opened;
    *pointer = base;
    return 0;
  }
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0) return kInvalidValue;
  const size_t bytes = static_cast<size_t>(info.st_size);
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (data == MAP_FAILED) return kInvalidValue;
  *pointer = reinterpret_cast<Pointer>(data);
  g_memories[*pointer] = {bytes, path, 1};
  return 0;
}

int cuIpcCloseMemHandle(Pointer pointer) {
  const auto found = g_memories.find(pointer);
  if (found == g_memories.end()) return kInvalidValue;
  if (--found->second.opened > 0) return 0;
  munmap(reinterpret_cast<void*>(pointer), found->second.bytes);
  g_memories.erase(found);
  return 0;
}

int cuMemGetAddressRange_v2(Pointer* base, size_t* bytes, Pointer pointer) {
  for (const auto& [start, memory] : g_memories) {
    if (pointer < start || pointer - start >= memory.bytes) continue;
    *base = start;
    *bytes = memory.bytes;
    return 0;
  }
  return kInvalidValue;
}

int cuMemcpyDtoH_v2(void* target, Pointer source, size_t bytes) {
  return Copy(target, reinterpret_cast<const void*>(source), source, bytes);
}

int cuMemcpyHtoD_v2(Pointer target, const void* source, size_t bytes) {
  return Copy(reinterpret_cast<void*>(target), source, target, bytes);
}

int cuMemHostRegister_v2(void*, size_t, unsigned int) { return 0; }

}  // extern "C"
