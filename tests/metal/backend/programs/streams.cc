#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <vector>

#include "tests/metal/backend/kernel_block.h"
#include "tests/metal/backend/programs/case.h"
#include "tests/metal/rules/live_objects.h"

namespace mpsd::standin {
namespace {

constexpr at::ScalarType kTypes[] = {at::kFloat, at::kHalf, at::kInt,  at::kLong,
                                     at::kShort, at::kChar, at::kByte, at::kBFloat16};
constexpr int kRanks = 5;  // from the fifth dim on a view has the kernel of all further ranks

const void* OwnQueue() { return at::detail::getMPSHooks().getDispatchQueue(); }

// A tensor of the shape [4, 2, 2, …].
at::Tensor HostOf(at::ScalarType type, int rank) {
  std::vector<int64_t> sizes(static_cast<size_t>(rank), 2);
  sizes[0] = 4;
  return at::randint(0, 100, sizes, at::TensorOptions().dtype(type));
}

}  // namespace

void OwnQueues(const CaseSize& size, CaseCounts& counts) {
  const void* const main_queue = OwnQueue();
  RunOnThreads(size, counts, [&](int, int) {
    if (OwnQueue() == main_queue) ++counts.wrong;
  });
}

void Forks(const CaseSize& size, CaseCounts& counts) {
  RunOnThreads(size, counts, [&](int, int) {
    const void* const own = OwnQueue();
    std::promise<const void*> found;
    at::launch([&found] { found.set_value(OwnQueue()); });
    if (found.get_future().get() != own) ++counts.wrong;
  });
}

void KernelBlocks(const CaseSize& size, CaseCounts& counts) {
  RunOnThreads(size, counts, [&](int, int) {
    const void* const own = OwnQueue();
    RunInKernelBlock([&] {
      if (OwnQueue() != own) ++counts.wrong;
    });
  });
}

void SharedStreams(const CaseSize& size, CaseCounts& counts) {
  const c10::impl::VirtualGuardImpl guard(c10::DeviceType::MPS);
  const at::MPSHooksInterface& hooks = at::detail::getMPSHooks();
  const c10::Stream shared = guard.getNewStream(kMps);
  std::atomic<int> arrived{0};
  std::atomic<const void*> buffer{nullptr};
  RunOnThreads(size, counts, [&](int thread, int round) {
    const int meetings = 3 * size.threads * round;
    guard.exchangeStream(shared);
    Meet(arrived, meetings + size.threads);
    const void* const found = hooks.getCommandBuffer();
    const void* const before = buffer.exchange(found);
    if (before != nullptr && before != found) ++counts.wrong;
    Meet(arrived, meetings + 2 * size.threads);
    if (thread == 0) {
      hooks.commitStream();
      buffer = nullptr;
    }
    Meet(arrived, meetings + 3 * size.threads);
  });
}

void Views(const CaseSize& size, CaseCounts& counts) {
  std::atomic<int> arrived{0};
  const int64_t before = LiveObjects::All().pipelines;
  RunOnThreads(size, counts, [&](int, int round) {
    const at::Tensor host = HostOf(kTypes[round / kRanks % std::size(kTypes)], 1 + round % kRanks);
    const at::Tensor device = host.to("mps");
    Meet(arrived, size.threads * (round + 1));
    const at::Tensor got = device.slice(0, 0, 4, 2).contiguous();
    if (!at::equal(got.to("cpu"), host.slice(0, 0, 4, 2))) ++counts.wrong;
  });
  if (LiveObjects::All().pipelines - before != size.rounds) ++counts.wrong;
}

}  // namespace mpsd::standin
