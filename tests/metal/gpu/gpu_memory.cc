#include "tests/metal/gpu/gpu_memory.h"

#include <cstdlib>
#include <new>
#include <utility>

namespace mpsd::standin {
namespace {

constexpr size_t kPage = 16384;  // a Mac's

}  // namespace

std::shared_ptr<GpuMemory> GpuMemory::Make(size_t bytes) {
  const size_t whole = (bytes / kPage + 1) * kPage;
  void* const data = std::aligned_alloc(kPage, whole);
  if (data == nullptr) throw std::bad_alloc();
  return std::shared_ptr<GpuMemory>(
      new GpuMemory(static_cast<char*>(data), bytes, [data] { std::free(data); }));
}

std::shared_ptr<GpuMemory> GpuMemory::Wrap(void* data, size_t bytes, std::function<void()> ends) {
  return std::shared_ptr<GpuMemory>(
      new GpuMemory(static_cast<char*>(data), bytes, std::move(ends)));
}

GpuMemory::~GpuMemory() {
  if (ends_ != nullptr) ends_();
}

bool GpuRange::IsInside(const char* call) const {
  const bool is_inside = offset <= memory->bytes() && bytes <= memory->bytes() - offset;
  if (!is_inside) Broken(kOutOfRange, call);
  return is_inside;
}

}  // namespace mpsd::standin
