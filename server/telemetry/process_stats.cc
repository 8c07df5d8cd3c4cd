#include "server/telemetry/process_stats.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>

#include "proto/base/platform.h"

namespace mpsd {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// /dev/fd lists this process's descriptors. Does not count ".", ".." and the descriptor that reads
// the list.
uint64_t OpenFds() {
  std::unique_ptr<DIR, CloseDirectory> directory(opendir("/dev/fd"));
  if (directory == nullptr) return 0;
  uint64_t entries = 0;
  while (readdir(directory.get()) != nullptr) ++entries;
  return entries > 3 ? entries - 3 : 0;
}

uint64_t MaxFds() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double CpuSeconds() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

}  // namespace

ProcessStats ReadProcessStats() {
  ProcessStats stats;
  stats.resident_bytes = platform::ResidentMemoryBytes(getpid());
  stats.open_fds = OpenFds();
  stats.max_fds = MaxFds();
  stats.cpu_seconds = CpuSeconds();
  return stats;
}

}  // namespace mpsd
