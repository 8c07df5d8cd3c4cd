#include <ATen/ATen.h>
#include <ATen/detail/MPSHooksInterface.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "tests/metal/backend/programs/case.h"

namespace mpsd::standin {
namespace {

void CopyAround(int round, CaseCounts& counts) {
  const at::Tensor host = at::randn({64 + round % 7, 129});
  const at::Tensor device = host.to("mps");
  at::Tensor other = at::empty_like(device);
  other.copy_(device);
  if (!at::equal(other.to("cpu"), host)) ++counts.wrong;
}

}  // namespace

void Copies(const CaseSize& size, CaseCounts& counts) {
  RunOnThreads(size, counts, [&](int, int round) { CopyAround(round, counts); });
}

void DeviceWaits(const CaseSize& size, CaseCounts& counts) {
  RunOnThreads(size, counts, [&](int, int round) {
    CopyAround(round, counts);
    at::detail::getMPSHooks().deviceSynchronize();
  });
}

void WaitsForOthers(const CaseSize& size, CaseCounts& counts) {
  RunOnThreads(size, counts, [&](int, int) {
    const at::Tensor device = at::randn({256, 256}).to("mps");
    const at::Tensor wanted = device.to("cpu");
    at::Tensor got = at::zeros({256, 256});
    got.copy_(device, /*non_blocking=*/true);
    std::thread([&] {
      at::detail::getMPSHooks().deviceSynchronize();
      if (!at::equal(got, wanted)) ++counts.wrong;
    }).join();
    at::detail::getMPSHooks().deviceSynchronize();  // the gpu may still write to `got`
  });
}

void FreedBuffers(const CaseSize& size, CaseCounts& counts) {
  RunOnThreads(size, counts, [&](int, int) {
    const at::Tensor host = at::randn({64, 128});
    at::Tensor last;
    {
      const at::Tensor device = host.to("mps");
      last = at::empty_like(device);
      last.copy_(device);
    }  // the copy may still be queued
    if (!at::equal(last.to("cpu"), host)) ++counts.wrong;
  });
}

void FreedBesideTrims(const CaseSize& size, CaseCounts& counts) {
  std::atomic<bool> is_ending{false};
  std::thread trimmer([&] {
    while (!is_ending) at::detail::getMPSHooks().emptyCache();
  });
  RunOnThreads(size, counts, [&](int, int) {
    constexpr int64_t kSizes = 8;
    at::Tensor last;
    const at::Tensor host = at::randn({kSizes, 128});
    for (int64_t rows = 1; rows <= kSizes; ++rows) {
      const at::Tensor device = host.narrow(0, 0, rows).to("mps");
      last = at::empty_like(device);
      last.copy_(device);
    }  // the copies may still be queued
    if (!at::equal(last.to("cpu"), host)) ++counts.wrong;
  });
  is_ending = true;
  trimmer.join();
}

void Churn(const CaseSize& size, CaseCounts& counts) {
  std::atomic<bool> is_ending{false};
  std::thread trimmer([&] {
    while (!is_ending) at::detail::getMPSHooks().emptyCache();
  });
  for (int i = 0; i < size.rounds; ++i) {
    RunOnThreads(CaseSize{size.threads, 2}, counts,
                 [&](int, int round) { CopyAround(round, counts); });
  }
  is_ending = true;
  trimmer.join();
}

}  // namespace mpsd::standin
