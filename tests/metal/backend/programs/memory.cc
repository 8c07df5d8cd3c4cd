#include <ATen/ATen.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <c10/core/InferenceMode.h>
#include <dispatch/dispatch.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/metal/backend/programs/case.h"
#include "tests/metal/rules/live_objects.h"

namespace mpsd::standin {
namespace {

constexpr int64_t kMostGraphs = 512;  // that a thread keeps
constexpr int64_t kOtherGraphs = 64;  // for the main thread's graphs
constexpr int64_t kMostBuffers = 8;   // that a thread has at a time

// A block of a thread's own queue: it meets the blocks of the others, and gives memory back.
struct Trim {
  std::atomic<int>* arrived;
  int threads;

  static void Run(void* context) {
    const auto* trim = static_cast<Trim*>(context);
    Meet(*trim->arrived, trim->threads);
    at::detail::getMPSHooks().emptyCache();
  }
};

// Whether the caller's stream keeps its command buffer's object when it commits.
bool ContinuesHere() {
  const at::Tensor device = at::randn({64}).to("mps");
  const at::MPSHooksInterface& hooks = at::detail::getMPSHooks();
  const void* const before = hooks.getCommandBuffer();
  hooks.commitStream();
  return hooks.getCommandBuffer() == before;
}

}  // namespace

void ManyShapes(const CaseSize& size, CaseCounts& counts) {
  RunOnThreads(CaseSize{size.threads, 1}, counts, [&](int, int) {
    const c10::InferenceMode inference;
    for (int64_t width = 1; width <= size.rounds; ++width) {
      const at::Tensor host = at::randn({2, width});
      const at::Tensor got = at::relu(host.to("mps")).to("cpu");
      if (!at::equal(got, at::relu(host))) ++counts.wrong;
    }
    if (LiveObjects::All().graphs > size.threads * kMostGraphs + kOtherGraphs) ++counts.wrong;
  });
}

void KeptBuffers(const CaseSize& size, CaseCounts& counts) {
  RunOnThreads(size, counts, [&](int, int round) {
    at::Tensor device = at::randn({64, 64}).to("mps");
    at::Tensor host = at::zeros({64, 64});
    host.copy_(device, /*non_blocking=*/true);
    at::detail::getMPSHooks().commitStream();
    host.copy_(device, /*non_blocking=*/true);
    at::detail::getMPSHooks().commitStream();
    if (!at::equal(device.to("cpu"), host)) ++counts.wrong;
    if (LiveObjects::All().command_buffers > size.threads * kMostBuffers) ++counts.wrong;
  });
}

void Continues(const CaseSize& size, CaseCounts& counts) {
  const char* const set = std::getenv("MPS_COMMIT_AND_CONTINUE");
  const std::string which = set == nullptr ? "all" : set;
  if (ContinuesHere() != (which != "none")) ++counts.wrong;
  RunOnThreads(size, counts, [&](int, int) {
    if (ContinuesHere() != (which == "all")) ++counts.wrong;
  });
}

void TrimsInBlocks(const CaseSize& size, CaseCounts& counts) {
  for (int round = 0; round < size.rounds; ++round) {
    std::atomic<int> arrived{0};
    RunOnThreads(CaseSize{size.threads, 1}, counts, [&](int, int) {
      const at::Tensor host = at::randn({64, 64});
      const at::Tensor device = host.to("mps");
      at::empty_like(device).copy_(device);  // unused memory that the gpu may still write to
      Trim trim{&arrived, size.threads};
      dispatch_sync_f(static_cast<dispatch_queue_t>(at::detail::getMPSHooks().getDispatchQueue()),
                      &trim, &Trim::Run);
      if (!at::equal(device.to("cpu"), host)) ++counts.wrong;
    });
  }
}

}  // namespace mpsd::standin
