#include "worker/model/torch/memory_probe.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"

namespace mpsd {
namespace {

constexpr size_t kNumbers = 1000;
constexpr int32_t kRounds = 2;  // the second shows that the gpu did not keep the first

// Unmaps the memory on destruction.
class Mapping {
 public:
  Mapping(void* data, uint64_t bytes) : data_(data), bytes_(bytes) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { platform::UnmapSharedMemory(data_, bytes_); }

  char* data() const { return static_cast<char*>(data_); }

 private:
  void* const data_;
  const uint64_t bytes_;
};

int32_t NumberOf(size_t index, int32_t round) {
  return static_cast<int32_t>(index) * 7 + round * 100'003 + 1;
}

absl::Status CheckDoubled(absl::Span<const int32_t> doubled, int32_t round) {
  if (doubled.size() != kNumbers) return absl::DataLossError("the gpu gave too few numbers");
  for (size_t i = 0; i < kNumbers; ++i) {
    if (doubled[i] == 2 * NumberOf(i, round)) continue;
    return absl::DataLossError(absl::StrCat("the gpu read ", doubled[i] / 2, " where ",
                                            NumberOf(i, round), " was written"));
  }
  return absl::OkStatus();
}

// `written` and `read` are two mappings of the same bytes.
absl::Status Rounds(HostBuffers* buffers, int32_t* written, const int32_t* read, Double doubled) {
  const absl::Span<const int32_t> numbers(read, kNumbers);
  for (int32_t round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < kNumbers; ++i) written[i] = NumberOf(i, round);
    std::optional<BufferPlace> place;
    if (buffers != nullptr) {
      place = buffers->Find(read, kNumbers * sizeof(int32_t));
      if (!place.has_value()) return absl::InternalError("the memory was not found again");
    }
    const absl::StatusOr<std::vector<int32_t>> answer = doubled(numbers, place);
    if (!answer.ok()) return answer.status();
    if (absl::Status status = CheckDoubled(*answer, round); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// The numbers lie in the second page, so that the offset is tested too.
absl::Status RoundsIn(BufferMaker* maker, char* written, const char* read, uint64_t bytes,
                      Double doubled) {
  const uint64_t page_bytes = platform::PageBytes();
  const uint64_t offset = page_bytes + kTensorAlignment;
  HostBuffers buffers(maker, page_bytes);
  if (maker != nullptr) {
    if (absl::Status status = buffers.Add(read, bytes); !status.ok()) return status;
  }
  return Rounds(maker == nullptr ? nullptr : &buffers, reinterpret_cast<int32_t*>(written + offset),
                reinterpret_cast<const int32_t*>(read + offset), doubled);
}

}  // namespace

absl::Status ProbeMemory(BufferMaker* maker, Double doubled) {
  const uint64_t page_bytes = platform::PageBytes();
  const uint64_t needed = page_bytes + kTensorAlignment + kNumbers * sizeof(int32_t);
  const uint64_t bytes = (needed + page_bytes - 1) / page_bytes * page_bytes;
  const absl::StatusOr<platform::SharedMemory> memory =
      platform::CreateSharedMemory(bytes, platform::SharedMemoryWriter::kCreator);
  if (!memory.ok()) return memory.status();
  const Mapping written(memory->data, bytes);
  const absl::StatusOr<void*> mapped =
      platform::MapSharedMemory(memory->readonly_fd.get(), bytes, /*writable=*/false);
  if (!mapped.ok()) return mapped.status();
  const Mapping read(*mapped, bytes);
  return RoundsIn(maker, written.data(), read.data(), bytes, doubled);
}

}  // namespace mpsd
