#include "worker/model/sharing/host_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "proto/base/platform.h"

namespace mpsd {
namespace {

class HostMemory final : public DeviceMemory {
 public:
  // Takes over mapped pages and their descriptor; none if the memory belongs to another process.
  HostMemory(void* data, uint64_t bytes, UniqueFd descriptor)
      : data_(data), bytes_(bytes), descriptor_(std::move(descriptor)) {}
  ~HostMemory() override { platform::UnmapSharedMemory(data_, bytes_); }

  char* data() const override { return static_cast<char*>(data_); }
  uint64_t bytes() const override { return bytes_; }
  absl::Status Protect() override {
    if (mprotect(data_, bytes_, PROT_READ) == 0) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, "cannot protect shared weights");
  }
  absl::StatusOr<UniqueFd> Export() const override {
    UniqueFd copy(fcntl(descriptor_.get(), F_DUPFD_CLOEXEC, 0));
    if (!copy.valid()) return absl::ErrnoToStatus(errno, "cannot copy a descriptor");
    return copy;
  }

 private:
  void* const data_;
  const uint64_t bytes_;
  const UniqueFd descriptor_;
};

uint64_t InWholePages(uint64_t bytes) {
  const uint64_t page = platform::PageBytes();
  return (bytes + page - 1) / page * page;
}

class HostMemorySource final : public DeviceMemorySource {
 public:
  absl::StatusOr<std::unique_ptr<DeviceMemory>> Make(uint64_t bytes) override {
    absl::StatusOr<platform::SharedMemory> made =
        platform::CreateSharedMemory(InWholePages(bytes), platform::SharedMemoryWriter::kCreator);
    if (!made.ok()) return made.status();
    return std::make_unique<HostMemory>(made->data, made->bytes, std::move(made->readonly_fd));
  }

  absl::StatusOr<std::unique_ptr<DeviceMemory>> Open(UniqueFd descriptor, uint64_t bytes) override {
    const uint64_t whole = InWholePages(bytes);
    absl::StatusOr<void*> data =
        platform::MapSharedMemory(descriptor.get(), whole, /*writable=*/false);
    if (!data.ok()) return absl::FailedPreconditionError(data.status().message());
    return std::make_unique<HostMemory>(*data, whole, UniqueFd());
  }
};

}  // namespace

std::unique_ptr<DeviceMemorySource> MakeHostMemory() {
  return std::make_unique<HostMemorySource>();
}

}  // namespace mpsd
