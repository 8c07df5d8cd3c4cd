// HubCache: the folder in which models from a hub are kept, in the layout of huggingface_hub:
//
//   CACHE/models--ORG--NAME/blobs/ID                 a file's content, by its id
//                           snapshots/COMMIT/PATH    a link to the blob
//                           refs/REVISION            the commit that a branch or tag was last
//   CACHE/.locks/models--ORG--NAME/ID.lock           held while a blob is fetched
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/hub/hub_listing.h"
#include "proto/base/fd.h"
#include "proto/files/hub_name.h"

namespace mpsd::hub {

// A model in the cache, at one commit.
struct KeptModel {
  HubName name;  // `revision` is the commit
  std::string path;
  std::vector<HubFile> files;  // without ids
};

// Several processes may use one cache at once, Python's huggingface_hub too. Thread-compatible.
class HubCache {
 public:
  // The first model creates `root`.
  explicit HubCache(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  std::string BlobPath(const HubName& name, const std::string& id) const;
  std::string SnapshotPath(const HubName& name, const std::string& commit) const;

  // Lists the snapshot's files, without ids.
  std::vector<HubFile> FilesOf(const HubName& name, const std::string& commit) const;

  // Nothing if the cache does not know it.
  std::optional<std::string> CommitOf(const HubName& name) const;

  // Makes the model's folders and waits until no other process fetches the blob; calls `waits` once
  // before. The lock ends with the descriptor.
  absl::StatusOr<UniqueFd> LockBlob(const HubName& name, const std::string& id,
                                    const std::function<void()>& waits) const;

  // The link leads from the snapshot to the blob.
  absl::Status Link(const HubName& name, const std::string& commit, const HubFile& file) const;

  // Says that `name.revision` is `commit` now: a pull's last step.
  absl::Status WriteRef(const HubName& name, const std::string& commit) const;

  // The cache's file system has so many; nothing if nobody can tell.
  std::optional<uint64_t> FreeBytes() const;

  // All snapshots, by name.
  std::vector<KeptModel> Models() const;

  // Removes all commits and blobs. NOT_FOUND if there are none.
  absl::Status Remove(const HubName& name) const;

 private:
  std::string FolderOf(const HubName& name) const;

  const std::string root_;
};

}  // namespace mpsd::hub
