#include "worker/model/aoti/unpacked_package.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "caffe2/serialize/inline_container.h"
#include "nlohmann/json.hpp"
#include "worker/model/torch/archive_size.h"

namespace mpsd {
namespace {

using caffe2::serialize::PyTorchStreamReader;

constexpr absl::string_view kModelFolder = "data/aotinductor/model/";
constexpr absl::string_view kMetadataEnd = "_metadata.json";
constexpr size_t kChunkBytes = 1 << 20;

// Files directly in the model's folder of the archive, without the folder's name.
std::vector<std::string> ModelFiles(PyTorchStreamReader* archive) {
  std::vector<std::string> files;
  for (const std::string& record : archive->getAllRecords()) {
    if (!absl::StartsWith(record, kModelFolder)) continue;
    std::string file = record.substr(kModelFolder.size());
    if (!file.empty() && !absl::StrContains(file, "/")) files.push_back(std::move(file));
  }
  return files;
}

// Whether a run does not need the file.
bool IsSource(absl::string_view file) {
  return absl::EndsWith(file, ".cpp") || absl::EndsWith(file, ".json") ||
         absl::EndsWith(file, ".o");
}

absl::Status CannotWrite(const std::string& path) {
  return absl::ResourceExhaustedError(absl::StrCat("cannot write '", path, "'"));
}

absl::Status WriteRecord(PyTorchStreamReader* archive, const std::string& record,
                         const std::string& path) {
  std::ofstream target(path, std::ios::binary);
  std::vector<char> chunk(kChunkBytes);
  const size_t bytes = archive->getRecordSize(record);
  auto reader = archive->createChunkReaderIter(record, bytes, kChunkBytes);
  for (size_t done = 0; done < bytes;) {
    const size_t count = reader.next(chunk.data());
    if (count == 0) return absl::InvalidArgumentError("the package is cut short");
    target.write(chunk.data(), static_cast<std::streamsize>(count));
    done += count;
  }
  target.close();
  return target ? absl::OkStatus() : CannotWrite(path);
}

std::string TemporaryFolder() {
  const char* folder = std::getenv("TMPDIR");
  return folder == nullptr ? "/tmp" : folder;
}

}  // namespace

absl::StatusOr<PackageMetadata> UnpackedPackage::ReadMetadata(const std::string& path) {
  const absl::Status size = CheckArchiveSize(path);
  if (!size.ok()) return size;
  PyTorchStreamReader archive(path);
  for (const std::string& file : ModelFiles(&archive)) {
    if (!absl::EndsWith(file, kMetadataEnd)) continue;
    const auto [data, bytes] = archive.getRecord(absl::StrCat(kModelFolder, file));
    const char* text = static_cast<const char*>(data.get());
    const auto json = nlohmann::json::parse(text, text + bytes, nullptr, /*throws=*/false);
    if (!json.is_object()) return absl::InvalidArgumentError("the package's metadata is no JSON");
    PackageMetadata metadata;
    for (const auto& [key, value] : json.items()) {
      if (value.is_string()) metadata.emplace(key, value.get<std::string>());
    }
    return metadata;
  }
  return absl::InvalidArgumentError(
      "the package holds no compiled model; export it with export_model.py");
}

absl::StatusOr<std::unique_ptr<UnpackedPackage>> UnpackedPackage::Unpack(const std::string& path) {
  std::string folder = absl::StrCat(TemporaryFolder(), "/mpsd-package-XXXXXX");
  if (mkdtemp(folder.data()) == nullptr) return CannotWrite(folder);
  std::unique_ptr<UnpackedPackage> package(new UnpackedPackage(std::move(folder)));
  PyTorchStreamReader archive(path);
  for (const std::string& file : ModelFiles(&archive)) {
    if (IsSource(file)) continue;
    const std::string target = absl::StrCat(package->folder_, "/", file);
    absl::Status status = WriteRecord(&archive, absl::StrCat(kModelFolder, file), target);
    if (!status.ok()) return status;
    if (absl::EndsWith(file, ".so")) package->library_ = target;
  }
  if (!package->library_.empty()) return package;
  return absl::InvalidArgumentError("the package holds no compiled library");
}

UnpackedPackage::~UnpackedPackage() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace mpsd
