// mpsd-futex-echo: what this machine takes to hand one word to another process and back, parked and
// awake, and to copy memory: the floors under a shared-memory hop.
//
// Run with:
//   mpsd-futex-echo            (prints JSON; microseconds a round trip, gigabytes a second)

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "nlohmann/json.hpp"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"

namespace {

enum class Waiting { kParked, kAwake };

// The two words of the ping-pong: each side writes one and sleeps on the other.
struct Words {
  alignas(mpsd::kCacheLineBytes) std::atomic<uint32_t> ping{0};
  alignas(mpsd::kCacheLineBytes) std::atomic<uint32_t> pong{0};
};

void Park(std::atomic<uint32_t>* word, uint32_t seen) {
  syscall(SYS_futex, word, FUTEX_WAIT, seen, nullptr, nullptr, 0);
}

void Wake(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void WaitFor(Waiting waiting, std::atomic<uint32_t>* word, uint32_t wanted) {
  for (uint32_t seen = word->load(); seen != wanted; seen = word->load()) {
    if (waiting == Waiting::kParked) Park(word, seen);
  }
}

void Publish(Waiting waiting, std::atomic<uint32_t>* word, uint32_t value) {
  word->store(value);
  if (waiting == Waiting::kParked) Wake(word);
}

void PinTo(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  MPSD_CHECK(sched_setaffinity(0, sizeof(set), &set) == 0);
}

// The cores that this process may use, ascending.
std::vector<int> AllowedCores() {
  cpu_set_t set;
  MPSD_CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

[[noreturn]] void Answer(Waiting waiting, Words* words, uint32_t rounds, int core) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  PinTo(core);
  for (uint32_t i = 1; i <= rounds; ++i) {
    WaitFor(waiting, &words->ping, i);
    Publish(waiting, &words->pong, i);
  }
  _exit(0);
}

double Quantile(std::vector<int64_t>* values, double quantile) {
  std::sort(values->begin(), values->end());
  const auto index = static_cast<size_t>(quantile * static_cast<double>(values->size() - 1));
  return static_cast<double>((*values)[index]) * 1e-3;
}

// The round trips of `rounds` rounds between two processes; a core of -1 leaves it to the kernel.
nlohmann::json RoundTrip(Waiting waiting, uint32_t rounds, int core, int peer_core) {
  void* memory =
      mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MPSD_CHECK(memory != MAP_FAILED);
  auto* words = new (memory) Words;
  const pid_t peer = fork();  // no thread has been started
  MPSD_CHECK(peer >= 0);
  if (peer == 0) Answer(waiting, words, rounds, peer_core);
  cpu_set_t before;
  MPSD_CHECK(sched_getaffinity(0, sizeof(before), &before) == 0);
  PinTo(core);
  std::vector<int64_t> times_ns;
  times_ns.reserve(rounds);
  const mpsd::Clock* clock = mpsd::Clock::Real();
  for (uint32_t i = 1; i <= rounds; ++i) {
    const int64_t begin_ns = clock->NowNs();
    Publish(waiting, &words->ping, i);
    WaitFor(waiting, &words->pong, i);
    times_ns.push_back(clock->NowNs() - begin_ns);
  }
  MPSD_CHECK(waitpid(peer, nullptr, 0) == peer);
  MPSD_CHECK(sched_setaffinity(0, sizeof(before), &before) == 0);
  munmap(memory, sizeof(Words));
  times_ns.erase(times_ns.begin(), times_ns.begin() + rounds / 10);  // until both sides have run
  return {{"p50_us", Quantile(&times_ns, 0.5)}, {"p99_us", Quantile(&times_ns, 0.99)}};
}

// The median copy of `bytes` bytes that lie in no cache when they exceed it.
nlohmann::json Copy(size_t bytes) {
  const size_t copies = std::clamp<size_t>((256ULL << 20) / bytes, 8, 20'000);
  std::vector<char> source(bytes, 1);
  std::vector<char> target(bytes, 2);
  std::vector<int64_t> times_ns;
  const mpsd::Clock* clock = mpsd::Clock::Real();
  for (size_t i = 0; i < copies; ++i) {
    source[i % bytes] = static_cast<char>(i);
    const int64_t begin_ns = clock->NowNs();
    std::memcpy(target.data(), source.data(), bytes);
    asm volatile("" : : "r"(target.data()) : "memory");  // the copy counts as read
    times_ns.push_back(clock->NowNs() - begin_ns);
  }
  const double us = Quantile(&times_ns, 0.5);
  return {{"bytes", bytes}, {"us", us}, {"gb_per_s", static_cast<double>(bytes) * 1e-3 / us}};
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t rounds = 20'000;
  CLI::App app("Round trips between two processes, and memory copies.");
  app.add_option("--rounds", rounds, "round trips, each way of waiting")
      ->check(CLI::Range(100, 10'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  nlohmann::json report;
  const std::vector<int> cores = AllowedCores();
  report["parked"] = RoundTrip(Waiting::kParked, rounds, -1, -1);
  report["parked_one_core"] = RoundTrip(Waiting::kParked, rounds, cores[0], cores[0]);
  if (cores.size() > 1) {
    report["parked_two_cores"] = RoundTrip(Waiting::kParked, rounds, cores[0], cores[1]);
    report["awake_two_cores"] = RoundTrip(Waiting::kAwake, rounds, cores[0], cores[1]);
  }
  for (const size_t bytes : {size_t{1024}, size_t{602'112}, size_t{64} << 20}) {
    report["memcpy"].push_back(Copy(bytes));
  }
  std::puts(report.dump().c_str());
  return 0;
}
