#include <ATen/ATen.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <thread>

#include "tests/metal/backend/programs/case.h"

namespace mpsd::standin {
namespace {

constexpr int kEarlierCopies = 10;

// Runs `work` on a thread of its own, and counts an error.
void OnThread(CaseCounts& counts, const std::function<void(c10::Stream stream)>& work) {
  std::thread([&] {
    try {
      work(c10::impl::VirtualGuardImpl(c10::DeviceType::MPS).getStream(kMps));
    } catch (const std::exception& error) {
      ++counts.failed;
      std::fprintf(stderr, "%.300s\n", error.what());
    }
  }).join();
}

}  // namespace

void Events(const CaseSize& size, CaseCounts& counts) {
  const at::Tensor zeros = at::zeros({256, 256});
  for (int i = 0; i < size.rounds; ++i) {
    const at::Tensor host = at::randn({256, 256});
    at::Tensor device;
    c10::Event event(c10::DeviceType::MPS);
    OnThread(counts, [&](c10::Stream stream) {
      device = at::empty({256, 256}, at::TensorOptions().device(kMps));
      // A thread that does not wait reads these.
      for (int k = 0; k < kEarlierCopies; ++k) device.copy_(zeros, /*non_blocking=*/true);
      device.copy_(host, /*non_blocking=*/true);
      event.record(stream);
      OnThread(counts, [&](c10::Stream other) {
        event.block(other);
        if (!at::equal(device.to("cpu"), host)) ++counts.wrong;
      });
    });
  }
}

void Guards(const CaseSize& size, CaseCounts& counts) {
  RunOnThreads(size, counts, [&](int, int) {
    const c10::impl::VirtualGuardImpl guard(c10::DeviceType::MPS);
    const c10::Stream before = guard.getStream(kMps);
    const c10::Stream taken = guard.getNewStream(kMps);
    if (taken == before || guard.exchangeStream(taken) != before) ++counts.wrong;
    if (guard.getStream(kMps) != taken) ++counts.wrong;
    guard.exchangeStream(before);
  });
}

void UntimedEvents(const CaseSize& size, CaseCounts& counts) {
  const at::MPSHooksInterface& hooks = at::detail::getMPSHooks();
  for (int i = 0; i < size.rounds; ++i) {
    const uint32_t begin = hooks.acquireEvent(/*enable_timing=*/false);
    const uint32_t end = hooks.acquireEvent(/*enable_timing=*/false);
    hooks.recordEvent(begin);
    hooks.recordEvent(end);
    try {
      hooks.elapsedTimeOfEvents(begin, end);
      ++counts.wrong;
    } catch (const c10::Error&) {
    }
    hooks.releaseEvent(begin);
    hooks.releaseEvent(end);
  }
}

}  // namespace mpsd::standin
