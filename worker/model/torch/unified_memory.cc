#include "worker/model/torch/unified_memory.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "ATen/ops/from_blob.h"
#include "c10/core/InferenceMode.h"
#include "proto/base/platform.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torch/forward_outputs.h"
#include "worker/model/torch/memory_probe.h"

namespace mpsd {
namespace {

void Say(const char* what, const absl::Status& why) {
  std::fprintf(stderr, "memory: %s: %s\n", what, std::string(why.message()).c_str());
}

}  // namespace

at::Tensor TensorIn(const BufferPlace& place, c10::ScalarType type, c10::IntArrayRef sizes,
                    c10::Device device) {
  return at::for_blob(place.buffer.get(), sizes)
      .storage_offset(static_cast<int64_t>(place.offset / c10::elementSize(type)))
      .deleter([buffer = place.buffer](void*) {})
      .options(at::TensorOptions(type).device(device))
      .target_device(device)
      .make_tensor();
}

UnifiedMemory::UnifiedMemory(c10::Device device, absl::StatusOr<std::unique_ptr<BufferMaker>> maker,
                             Wait wait)
    : device_(device), wait_(std::move(wait)) {
  const absl::Status in_place = maker.ok() ? Probe(maker->get()) : maker.status();
  reads_slabs_ = !absl::IsUnavailable(in_place);
  if (const absl::Status copies = Probe(nullptr); !copies.ok()) {
    Say("each copy waits for the gpu", copies);
    waits_once_ = false;
    return;
  }
  if (!in_place.ok()) {
    Say("inputs are copied to the gpu", in_place);
    return;
  }
  maker_ = *std::move(maker);
  buffers_ = std::make_unique<HostBuffers>(maker_.get(), platform::PageBytes());
}

absl::Status UnifiedMemory::Probe(BufferMaker* maker) const {
  return ProbeMemory(
      maker,
      [this](absl::Span<const int32_t> numbers,
             const std::optional<BufferPlace>& place) -> absl::StatusOr<std::vector<int32_t>> {
        std::vector<int32_t> doubled(numbers.size());
        const int64_t size = static_cast<int64_t>(numbers.size());
        const absl::Status queued = CatchForeign([&] {
          const c10::InferenceMode inference_mode;
          const at::Tensor host =
              at::from_blob(const_cast<int32_t*>(numbers.data()), {size}, at::kInt);
          const at::Tensor input =
              place.has_value() ? TensorIn(*place, at::kInt, {size}, device_) : Copied(host);
          CopyOut(input.add(input), doubled.data());
          return absl::OkStatus();
        });
        // After a failure too: copies that have begun still use this memory.
        const absl::Status finished = wait_();
        if (!queued.ok()) return queued;
        if (!finished.ok()) return finished;
        return doubled;
      });
}

void UnifiedMemory::Add(const void* data, uint64_t bytes) {
  if (buffers_ == nullptr) return;
  const absl::Status status = buffers_->Add(data, bytes);
  if (!status.ok()) Say("inputs of a segment are copied to the gpu", status);
}

void UnifiedMemory::Remove(const void* data) {
  if (buffers_ != nullptr) buffers_->Remove(data);
}

std::optional<at::Tensor> UnifiedMemory::InPlace(const void* data, uint64_t bytes,
                                                 c10::ScalarType type,
                                                 c10::IntArrayRef sizes) const {
  if (buffers_ == nullptr) return std::nullopt;
  const std::optional<BufferPlace> place = buffers_->Find(data, bytes);
  if (!place.has_value()) return std::nullopt;
  return TensorIn(*place, type, sizes, device_);
}

// Not every libtorch keeps the source of a non-blocking copy alive.
at::Tensor UnifiedMemory::Copied(const at::Tensor& host) const {
  return reads_slabs_ ? host.to(device_, /*non_blocking=*/waits_once_) : host.clone().to(device_);
}

bool GpuWritesTo(const void* target, uint64_t bytes) {
  constexpr uint64_t kStep = 4;
  return reinterpret_cast<uintptr_t>(target) % kStep == 0 && bytes % kStep == 0;
}

// If the layouts differ, libtorch copies through temporary memory, and reads that memory before the
// copy has ended. So both get one dim without a gap.
void UnifiedMemory::CopyOut(const at::Tensor& tensor, void* target) const {
  const at::Tensor dense = tensor.contiguous().resolve_neg();
  const at::Tensor flat = dense.as_strided({dense.numel()}, {1});
  const bool is_direct = GpuWritesTo(target, flat.nbytes());
  CopyOutput(is_direct ? flat : flat.cpu(), target, /*non_blocking=*/waits_once_);
}

}  // namespace mpsd
