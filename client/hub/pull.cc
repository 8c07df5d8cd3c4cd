#include "client/hub/pull.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/hub/blob_writer.h"
#include "client/hub/hub_cache.h"
#include "client/hub/hub_client.h"
#include "client/hub/hub_listing.h"
#include "client/hub/piece_pool.h"
#include "proto/base/fd.h"
#include "proto/base/units.h"

namespace mpsd::hub {
namespace {

constexpr int kMostBeginnings = 3;          // times that one file is begun at its first byte
constexpr uint64_t kSpareBytes = 64 << 20;  // left free on the disk

absl::Status CannotWrite(const std::string& path) {
  return absl::DataLossError(
      absl::StrCat("cannot write ", path, ": ", std::generic_category().message(errno)));
}

// 0 if there is no file.
uint64_t SizeOf(const std::string& path) {
  struct stat status {};
  const bool is_file = stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  return is_file ? static_cast<uint64_t>(status.st_size) : 0;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// Leaves out the tokenizer and the list of weights, which may be large.
std::vector<HubFile> ConfigsOf(const std::vector<HubFile>& files) {
  std::vector<HubFile> configs;
  for (const HubFile& file : files) {
    const bool is_config = absl::EndsWith(file.path, "config.json") ||
                           absl::EndsWith(file.path, "transformers.json") ||
                           file.path == "modules.json";
    if (is_config) configs.push_back(file);
  }
  return configs;
}

class PullRun {
 public:
  PullRun(const HubSettings& settings, const HubName& name, const PullWatch& watch, Wanted wanted)
      : cache_(settings.cache),
        client_(settings, &pool_, watch.say),
        name_(name),
        watch_(watch),
        wanted_(wanted) {}

  absl::StatusOr<PulledModel> Run() {
    const absl::StatusOr<HubListing> listing = client_.List(name_);
    if (!listing.ok()) return listing.status();
    const absl::StatusOr<std::vector<HubFile>> files = NeededFiles(*listing);
    if (!files.ok()) return files.status();
    model_.commit = listing->commit;
    model_.path = cache_.SnapshotPath(name_, listing->commit);
    model_.files = *files;
    std::vector<HubFile> fetched = wanted_ == Wanted::kAll ? *files : ConfigsOf(*files);
    // Weights are the last links: a snapshot that has them all is whole.
    std::stable_partition(fetched.begin(), fetched.end(),
                          [](const HubFile& file) { return !IsWeights(file.path); });
    progress_.bytes = BytesOf(fetched);
    if (absl::Status room = CheckRoom(fetched); !room.ok()) return room;
    for (const HubFile& file : fetched) {
      absl::Status status = Bring(file);
      if (status.ok()) status = cache_.Link(name_, model_.commit, file);
      if (!status.ok()) return status;
    }
    if (absl::Status status = cache_.WriteRef(name_, model_.commit); !status.ok()) return status;
    return model_;
  }

 private:
  std::string PartOf(const HubFile& file) const {
    return cache_.BlobPath(name_, file.id) + ".incomplete";
  }

  absl::Status CheckRoom(const std::vector<HubFile>& files) const {
    uint64_t missing = 0;
    for (const HubFile& file : files) {
      if (Exists(cache_.BlobPath(name_, file.id))) continue;
      missing += file.bytes - std::min(file.bytes, SizeOf(PartOf(file)));
    }
    const std::optional<uint64_t> free = cache_.FreeBytes();
    if (missing == 0 || !free.has_value() || *free >= missing + kSpareBytes) {
      return absl::OkStatus();
    }
    return absl::DataLossError(absl::StrCat(BytesText(missing), " are needed in ", cache_.root(),
                                            ", which has ", BytesText(*free), " free"));
  }

  // Fetches the file into the cache.
  absl::Status Bring(const HubFile& file) {
    const std::string blob = cache_.BlobPath(name_, file.id);
    progress_.file = file.path;
    progress_.file_bytes = file.bytes;
    if (!Exists(blob)) {
      const absl::StatusOr<UniqueFd> lock = cache_.LockBlob(name_, file.id, [this, &file] {
        watch_.say(absl::StrCat("another process fetches ", file.path, "; waiting for that"));
      });
      if (!lock.ok()) return lock.status();
      if (!Exists(blob)) {
        if (absl::Status status = Fetch(file, blob); !status.ok()) return status;
      }
    }
    whole_ += file.bytes;
    Tell(0);
    return absl::OkStatus();
  }

  absl::Status Fetch(const HubFile& file, const std::string& blob) {
    const std::string part = PartOf(file);
    const UniqueFd fd(open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!fd.valid()) return CannotWrite(part);
    uint64_t from = SizeOf(part);
    if (from > file.bytes) from = 0;
    bool in_parts = true;
    absl::Status status;
    for (int beginning = 0; beginning < kMostBeginnings; ++beginning) {
      if (ftruncate(fd.get(), static_cast<off_t>(from)) != 0) return CannotWrite(part);
      status = FetchFrom(file, fd.get(), from, in_parts);
      // An older pull may have kept wrong bytes; wrong bytes of this one would come again.
      const bool kept_wrong_bytes = absl::IsInvalidArgument(status) && from > 0;
      if (absl::IsOutOfRange(status)) {
        in_parts = false;
      } else if (!kept_wrong_bytes) {
        break;
      }
      from = 0;
    }
    if (absl::IsInvalidArgument(status)) {
      unlink(part.c_str());
      return absl::InternalError(
          absl::StrCat(file.path, " is not what the hub lists: ", status.message()));
    }
    if (!status.ok()) return status;
    if (fsync(fd.get()) != 0 || rename(part.c_str(), blob.c_str()) != 0) return CannotWrite(blob);
    return absl::OkStatus();
  }

  // INVALID_ARGUMENT if the content has another id.
  absl::Status FetchFrom(const HubFile& file, int fd, uint64_t from, bool in_parts) {
    BlobWriter writer(fd, from, file.id, file.bytes, &pool_);
    const auto take = [this, &writer](std::string piece) {
      model_.fetched += piece.size();
      return writer.Add(std::move(piece));
    };
    const absl::Status status = client_.Fetch(name_, model_.commit, file, from, in_parts, take,
                                              [this](uint64_t bytes) { Tell(bytes); });
    if (!status.ok()) return status;
    const absl::StatusOr<std::string> id = writer.Finish();
    if (!id.ok()) return id.status();
    if (*id == file.id) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("its hash is ", *id));
  }

  void Tell(uint64_t file_done) {
    progress_.file_done = file_done;
    progress_.done = whole_ + file_done;
    watch_.progress(progress_);
  }

  const HubCache cache_;
  PiecePool pool_;
  HubClient client_;
  const HubName name_;
  const PullWatch& watch_;
  const Wanted wanted_;
  PulledModel model_;
  PullProgress progress_;
  uint64_t whole_ = 0;  // bytes of the files that the cache has
};

// Does not ask the hub.
absl::StatusOr<PulledModel> FromCache(const HubSettings& settings, const HubName& name) {
  const HubCache cache(settings.cache);
  const std::optional<std::string> commit = cache.CommitOf(name);
  PulledModel model;
  if (commit.has_value()) {
    model.commit = *commit;
    model.path = cache.SnapshotPath(name, *commit);
  }
  if (!commit.has_value() || !Exists(model.path + "/config.json")) {
    return absl::NotFoundError(
        absl::StrCat("it is not in ", settings.cache, ", and HF_HUB_OFFLINE is set"));
  }
  model.files = cache.FilesOf(name, model.commit);
  if (absl::Status whole = CheckWhole(model.files); !whole.ok()) return whole;
  return model;
}

}  // namespace

absl::StatusOr<PulledModel> Pull(const HubSettings& settings, const HubName& name,
                                 const PullWatch& watch, Wanted wanted) {
  absl::StatusOr<PulledModel> model =
      settings.offline ? FromCache(settings, name) : PullRun(settings, name, watch, wanted).Run();
  if (model.ok()) return model;
  const absl::string_view text = model.status().message();
  if (text.find(name.Repository()) != absl::string_view::npos) return model;
  return absl::Status(model.status().code(), absl::StrCat(name.Repository(), ": ", text));
}

}  // namespace mpsd::hub
