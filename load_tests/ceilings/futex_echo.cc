// mpsd-futex-echo: measures round trips between processes, bare and through the memory plane, and
// copies of memory. Prints JSON: microseconds, gigabytes a second.

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "load_tests/ceilings/round_trip_linux.h"
#include "nlohmann/json.hpp"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"

namespace {

using mpsd::Waiting;

// Each side writes one word and sleeps on the other.
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

nlohmann::json FutexRoundTrip(Waiting waiting, uint32_t rounds, int core, int peer_core) {
  void* memory =
      mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MPSD_CHECK(memory != MAP_FAILED);
  auto* words = new (memory) Words;
  const auto answer = [waiting, words](uint32_t round) {
    WaitFor(waiting, &words->ping, round);
    Publish(waiting, &words->pong, round);
  };
  const auto trip = [waiting, words](uint32_t round) {
    Publish(waiting, &words->ping, round);
    WaitFor(waiting, &words->pong, round);
  };
  nlohmann::json report = mpsd::TimeRoundTrips(rounds, core, peer_core, answer, trip);
  munmap(memory, sizeof(Words));
  return report;
}

// If the bytes exceed the cache, they come from memory.
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
    // keeps the compiler from dropping the copy
    asm volatile("" : : "r"(target.data()) : "memory");
    times_ns.push_back(clock->NowNs() - begin_ns);
  }
  const double us = mpsd::QuantileUs(&times_ns, 0.5);
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
  const std::vector<int> cores = mpsd::AllowedCores();
  report["parked"] = FutexRoundTrip(Waiting::kParked, rounds, -1, -1);
  for (const Waiting waiting : {Waiting::kParked, Waiting::kAwake}) {
    const std::string name = waiting == Waiting::kParked ? "parked_" : "awake_";
    if (waiting == Waiting::kParked) {
      report[name + "one_core"] = FutexRoundTrip(waiting, rounds, cores[0], cores[0]);
      report["hop_" + name + "one_core"] = mpsd::HopRoundTrip(waiting, rounds, cores[0], cores[0]);
    }
    if (cores.size() < 2) continue;
    report[name + "two_cores"] = FutexRoundTrip(waiting, rounds, cores[0], cores[1]);
    report["hop_" + name + "two_cores"] = mpsd::HopRoundTrip(waiting, rounds, cores[0], cores[1]);
  }
  for (const size_t bytes : {size_t{1024}, size_t{602'112}, size_t{64} << 20}) {
    report["memcpy"].push_back(Copy(bytes));
  }
  std::puts(report.dump().c_str());
  return 0;
}
