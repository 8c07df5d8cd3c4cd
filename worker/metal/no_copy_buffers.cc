#include "worker/metal/no_copy_buffers.h"

#include "absl/status/status.h"

namespace mpsd {
namespace {

constexpr char kMake[] = "newBufferWithBytesNoCopy:length:options:deallocator:";
constexpr unsigned long kSharedStorage = 0;  // with the default cache mode

// Null if the device refuses, or has no such method.
ObjectiveC::Object MakeBuffer(const MetalDevice& device, const void* data, uint64_t bytes) {
  const ObjectiveC::Class owner = device.runtime.ClassOf(device.object);
  const ObjectiveC::Selector selector = device.runtime.Named(kMake);
  if (!device.runtime.Has(owner, selector)) return nullptr;
  using Make = ObjectiveC::Object (*)(ObjectiveC::Object, ObjectiveC::Selector, void* data,
                                      unsigned long bytes, unsigned long options, void* at_end);
  const auto make = reinterpret_cast<Make>(device.runtime.CodeOf(owner, selector));
  return make(device.object, selector, const_cast<void*>(data), static_cast<unsigned long>(bytes),
              kSharedStorage, nullptr);
}

}  // namespace

absl::StatusOr<std::shared_ptr<void>> NoCopyBuffers::Make(const void* data, uint64_t bytes) {
  const AutoreleasePool pool(device_.runtime);
  const ObjectiveC::Object made = MakeBuffer(device_, data, bytes);
  if (made == nullptr) return absl::UnavailableError("Metal makes no buffer of this memory");
  std::shared_ptr<void> buffer(made, [runtime = device_.runtime](ObjectiveC::Object object) {
    const AutoreleasePool end(runtime);
    runtime.Send(object, "release");
  });
  if (device_.runtime.Send(made, "contents") == data) return buffer;
  return absl::UnavailableError("Metal's buffer of this memory lies elsewhere");
}

}  // namespace mpsd
