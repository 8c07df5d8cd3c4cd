#include "worker/model/torch/archive_size.h"

#include <filesystem>
#include <limits>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "caffe2/serialize/inline_container.h"
#include "proto/base/units.h"

namespace mpsd {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

// The sizes come from the file, so their sum may overflow.
uint64_t Sum(uint64_t a, uint64_t b) { return a > kMost - b ? kMost : a + b; }

}  // namespace

absl::Status CheckArchiveSize(const std::string& path) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) return absl::OkStatus();  // the load says why
  caffe2::serialize::PyTorchStreamReader archive(path);
  uint64_t unpacked_bytes = 0;
  for (const std::string& record : archive.getAllRecords()) {
    unpacked_bytes = Sum(unpacked_bytes, archive.getRecordSize(record));
  }
  if (unpacked_bytes <= kUncheckedBytes || unpacked_bytes / kMostUnpackedFactor <= bytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("its ", BytesText(bytes), " unpack to ",
                                                 BytesText(unpacked_bytes),
                                                 ", which no saved model does"));
}

}  // namespace mpsd
