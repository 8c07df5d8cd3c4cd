#include "worker/model/products/team.h"

#include <dlfcn.h>

namespace mpsd {
namespace {

// Some 25 microseconds; below that, threads cost more than they save.
constexpr int64_t kLeastMultiplications = 1 << 20;

// The function of gcc's `#pragma omp parallel`. It is looked up and not linked: libtorch decides
// which library has it, and a second library would have threads of its own.
struct OpenMp {
  using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
  using Number = int (*)();
  using SetNumber = void (*)(int);
  using SetOldNumber = int (*)(int);

  OpenMp()
      : parallel(reinterpret_cast<Parallel>(dlsym(RTLD_DEFAULT, "GOMP_parallel"))),
        thread_number(reinterpret_cast<Number>(dlsym(RTLD_DEFAULT, "omp_get_thread_num"))),
        team_size(reinterpret_cast<Number>(dlsym(RTLD_DEFAULT, "omp_get_num_threads"))),
        set_threads(reinterpret_cast<SetNumber>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))),
        set_mkl_threads(
            reinterpret_cast<SetOldNumber>(dlsym(RTLD_DEFAULT, "MKL_Set_Num_Threads_Local"))) {}
  bool is_there() const {
    return parallel != nullptr && thread_number != nullptr && team_size != nullptr;
  }

  const Parallel parallel;
  const Number thread_number;
  const Number team_size;
  const SetNumber set_threads;         // for the calling thread
  const SetOldNumber set_mkl_threads;  // for the calling thread; null if libtorch has no MKL
};

const OpenMp& TheOpenMp() {
  static const OpenMp open_mp;
  return open_mp;
}

struct Job {
  int64_t parts = 0;
  absl::FunctionRef<void(int64_t part)> run;
};

// The team may have fewer threads than asked for.
void RunShare(void* argument) {
  const Job& job = *static_cast<const Job*>(argument);
  const int64_t number = TheOpenMp().thread_number();
  const int64_t size = TheOpenMp().team_size();
  const int64_t end = job.parts * (number + 1) / size;
  for (int64_t part = job.parts * number / size; part < end; ++part) job.run(part);
}

}  // namespace

int TeamFor(int threads, int64_t multiplications) {
  return multiplications < kLeastMultiplications ? 1 : threads;
}

void RunInTeam(int threads, int64_t parts, absl::FunctionRef<void(int64_t part)> run) {
  if (threads <= 1 || !TheOpenMp().is_there()) {
    for (int64_t part = 0; part < parts; ++part) run(part);
    return;
  }
  Job job{parts, run};
  TheOpenMp().parallel(RunShare, &job, static_cast<unsigned>(threads), /*flags=*/0);
}

void SizeTeam(int threads) {
  if (TheOpenMp().set_threads != nullptr) TheOpenMp().set_threads(threads);
  if (TheOpenMp().set_mkl_threads != nullptr) TheOpenMp().set_mkl_threads(threads);
}

}  // namespace mpsd
