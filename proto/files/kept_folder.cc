#include "proto/files/kept_folder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"
#include "proto/files/folder_links.h"
#include "proto/files/whole_file.h"

namespace mpsd {
namespace {

// Only the front end reads these.
constexpr std::array<std::string_view, 4> kTokenizersOwn = {
    "tokenizer.json", "vocab.json", "added_tokens.json", "special_tokens_map.json"};

bool IsForWorkers(const std::string& name) {
  return std::find(kTokenizersOwn.begin(), kTokenizersOwn.end(), name) == kTokenizersOwn.end();
}

// Invalid if the memory cannot be had.
UniqueFd MemoryOf(const std::string& content) {
  const uint64_t page = platform::PageBytes();
  const uint64_t bytes = std::max<uint64_t>(1, (content.size() + page - 1) / page) * page;
  absl::StatusOr<platform::SharedMemory> memory =
      platform::CreateSharedMemory(bytes, platform::SharedMemoryWriter::kCreator);
  if (!memory.ok()) return UniqueFd();
  std::memcpy(memory->data, content.data(), content.size());
  platform::UnmapSharedMemory(memory->data, memory->bytes);
  return std::move(memory->readonly_fd);
}

bool Keep(const std::string& folder, const std::string& name, KeptFolder* kept) {
  const std::string path = (std::filesystem::path(folder) / name).string();
  FolderFile file{name, 0, {}};
  UniqueFd fd;
  if (absl::EndsWith(name, ".json")) {
    const absl::StatusOr<std::string> content = ReadRegularFile(path, kMaxCopiedFileBytes);
    if (!content.ok()) return false;
    file.bytes = content->size();
    fd = MemoryOf(*content);
  } else {
    file.stamp = StampOf(path);
    file.bytes = file.stamp.bytes;
    fd = OpenAsStamped(path, file.stamp);
  }
  if (!fd.valid()) return false;
  kept->files.push_back(std::move(file));
  kept->descriptors.push_back(std::move(fd));
  return true;
}

}  // namespace

// A second look at the folder finds changes while the files were opened.
KeptFolder KeepFolder(const std::string& path, const FileStamp& stamp) {
  KeptFolder kept;
  const FolderLinks links(path);
  for (const std::string& name : FilesOfFolder(path)) {
    if (!IsForWorkers(name)) continue;
    if (!links.Allow(std::filesystem::path(path) / name)) return {};
    if (kept.files.size() >= kMaxMessageFds || !Keep(path, name, &kept)) return {};
  }
  return StampOf(path) == stamp ? std::move(kept) : KeptFolder();
}

absl::StatusOr<HandedFolder> HandedFolder::Of(std::vector<FolderFile> files,
                                              std::vector<UniqueFd> fds) {
  if (files.size() != fds.size()) {
    return absl::InvalidArgumentError("not each file of the folder has a descriptor");
  }
  return HandedFolder(std::move(files), std::move(fds));
}

HandedFolder::HandedFolder(std::vector<FolderFile> files, std::vector<UniqueFd> fds)
    : files_(std::move(files)), fds_(std::move(fds)) {}

std::optional<HandedFolder::File> HandedFolder::Find(const std::string& name) const {
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].name == name) return File{fds_[i].get(), files_[i].bytes};
  }
  return std::nullopt;
}

bool HandedFolder::IsUnchanged() const {
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].stamp == FileStamp()) continue;
    if (StampOfOpenFile(fds_[i].get()) != files_[i].stamp) return false;
  }
  return true;
}

}  // namespace mpsd
