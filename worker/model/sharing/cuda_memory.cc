#include "worker/model/sharing/cuda_memory.h"

#include <dlfcn.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

// The types and numbers of the driver's header, so that the header is not needed.
using DevicePointer = unsigned long long;
using Allocation = unsigned long long;

constexpr int kOutOfMemory = 2;
constexpr int kOfTheDevice = 1;
constexpr int kFileDescriptor = 1;
constexpr int kReadable = 1;
constexpr int kWritable = 3;

struct Location {
  int type = kOfTheDevice;
  int number = 0;
};
struct Properties {
  int type = kOfTheDevice;
  int handle_types = kFileDescriptor;
  Location location;
  void* for_windows = nullptr;
  unsigned char flags[8] = {};
};
struct Access {
  Location location;
  int flags = 0;
};
static_assert(sizeof(Properties) == 32 && sizeof(Access) == 12, "as the driver's header has them");

// Functions that map memory separately from allocating it.
struct Driver {
  int (*granularity)(size_t*, const Properties*, int) = nullptr;
  int (*create)(Allocation*, size_t, const Properties*, unsigned long long) = nullptr;
  int (*release)(Allocation) = nullptr;
  int (*reserve)(DevicePointer*, size_t, size_t, DevicePointer, unsigned long long) = nullptr;
  int (*unreserve)(DevicePointer, size_t) = nullptr;
  int (*map)(DevicePointer, size_t, size_t, Allocation, unsigned long long) = nullptr;
  int (*unmap)(DevicePointer, size_t) = nullptr;
  int (*set_access)(DevicePointer, size_t, const Access*, size_t) = nullptr;
  int (*export_handle)(void*, Allocation, int, unsigned long long) = nullptr;
  int (*import_handle)(Allocation*, void*, int) = nullptr;
};

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

// In a library that stays loaded as long as the process.
bool FindDriver(Driver* call) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return library != nullptr && Find(library, "cuMemGetAllocationGranularity", &call->granularity) &&
         Find(library, "cuMemCreate", &call->create) &&
         Find(library, "cuMemRelease", &call->release) &&
         Find(library, "cuMemAddressReserve", &call->reserve) &&
         Find(library, "cuMemAddressFree", &call->unreserve) &&
         Find(library, "cuMemMap", &call->map) && Find(library, "cuMemUnmap", &call->unmap) &&
         Find(library, "cuMemSetAccess", &call->set_access) &&
         Find(library, "cuMemExportToShareableHandle", &call->export_handle) &&
         Find(library, "cuMemImportFromShareableHandle", &call->import_handle);
}

absl::Status Fault(const char* what, int code) {
  const std::string text = absl::StrCat("CUDA cannot ", what, ": error ", code);
  return code == kOutOfMemory ? absl::ResourceExhaustedError(text)
                              : absl::FailedPreconditionError(text);
}

// Releases its allocation last.
class CudaMemory final : public DeviceMemory {
 public:
  CudaMemory(const Driver& call, int device, Allocation allocation, uint64_t bytes)
      : call_(call), device_(device), allocation_(allocation), bytes_(bytes) {}
  ~CudaMemory() override {
    if (is_mapped_) call_.unmap(address_, bytes_);
    if (address_ != 0) call_.unreserve(address_, bytes_);
    call_.release(allocation_);
  }

  // Called once, first.
  absl::Status Map(int access) {
    if (const int code = call_.reserve(&address_, bytes_, 0, 0, 0); code != 0) {
      return Fault("reserve addresses", code);
    }
    if (const int code = call_.map(address_, bytes_, 0, allocation_, 0); code != 0) {
      return Fault("map its memory", code);
    }
    is_mapped_ = true;
    return Allow(access);
  }

  char* data() const override { return reinterpret_cast<char*>(address_); }
  uint64_t bytes() const override { return bytes_; }
  absl::Status Protect() override { return Allow(kReadable); }
  absl::StatusOr<UniqueFd> Export() const override {
    int descriptor = -1;
    const int code = call_.export_handle(&descriptor, allocation_, kFileDescriptor, 0);
    if (code != 0) return Fault("export its memory", code);
    return UniqueFd(descriptor);
  }

 private:
  absl::Status Allow(int access) {
    const Access wanted = {{kOfTheDevice, device_}, access};
    const int code = call_.set_access(address_, bytes_, &wanted, 1);
    return code == 0 ? absl::OkStatus() : Fault("set the access to its memory", code);
  }

  const Driver call_;
  const int device_;
  const Allocation allocation_;
  const uint64_t bytes_;
  DevicePointer address_ = 0;
  bool is_mapped_ = false;
};

// `device` is the driver's number, which is libtorch's too.
class CudaMemorySource final : public DeviceMemorySource {
 public:
  CudaMemorySource(const Driver& call, int device) : call_(call), device_(device) {}

  absl::StatusOr<std::unique_ptr<DeviceMemory>> Make(uint64_t bytes) override {
    const absl::StatusOr<uint64_t> whole = InWholeParts(bytes);
    if (!whole.ok()) return whole.status();
    const Properties properties = OfTheDevice();
    Allocation allocation = 0;
    const int code = call_.create(&allocation, *whole, &properties, 0);
    if (code != 0) return Fault("make memory", code);
    return Mapped(allocation, *whole, kWritable);
  }

  absl::StatusOr<std::unique_ptr<DeviceMemory>> Open(UniqueFd descriptor, uint64_t bytes) override {
    const absl::StatusOr<uint64_t> whole = InWholeParts(bytes);
    if (!whole.ok()) return whole.status();
    Allocation allocation = 0;
    void* const handle = reinterpret_cast<void*>(static_cast<intptr_t>(descriptor.get()));
    const int code = call_.import_handle(&allocation, handle, kFileDescriptor);
    if (code != 0) return Fault("import memory", code);
    return Mapped(allocation, *whole, kReadable);
  }

 private:
  Properties OfTheDevice() const {
    Properties properties;
    properties.location.number = device_;
    return properties;
  }

  absl::StatusOr<uint64_t> InWholeParts(uint64_t bytes) const {
    const Properties properties = OfTheDevice();
    size_t part = 0;
    const int code = call_.granularity(&part, &properties, /*minimum=*/0);
    if (code != 0 || part == 0) return Fault("tell the parts of its memory", code);
    return (bytes + part - 1) / part * part;
  }

  absl::StatusOr<std::unique_ptr<DeviceMemory>> Mapped(Allocation allocation, uint64_t bytes,
                                                       int access) {
    auto memory = std::make_unique<CudaMemory>(call_, device_, allocation, bytes);
    if (absl::Status status = memory->Map(access); !status.ok()) return status;
    return memory;
  }

  const Driver call_;
  const int device_;
};

}  // namespace

std::unique_ptr<DeviceMemorySource> OpenCudaMemory(int device) {
  Driver call;
  if (!FindDriver(&call)) return nullptr;
  return std::make_unique<CudaMemorySource>(call, device);
}

}  // namespace mpsd
