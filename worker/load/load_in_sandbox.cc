#include "worker/load/load_in_sandbox.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/failpoint.h"
#include "proto/base/platform.h"
#include "proto/files/file_stamp.h"
#include "proto/files/kept_folder.h"
#include "worker/load/load_model.h"
#include "worker/sandbox/sandbox.h"

namespace mpsd {
namespace {

// All workers of a generation must load the same contents. LoadModel() reports a missing file.
absl::Status CheckFile(const LoadOrder& order) {
  if (order.stamp == FileStamp{}) return absl::OkStatus();
  if (order.handed != nullptr) {
    if (order.handed->IsUnchanged()) return absl::OkStatus();
  } else {
    const FileStamp found = StampOf(order.file());
    if (found == order.stamp || found == FileStamp{}) return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("'", order.path, "' is not the file that model '", order.model,
                   "' was configured with: it was replaced since. A reload loads the new one"));
}

// Empty if the file is not the order's.
std::string PathOf(const std::vector<UniqueFd>& files, const FileStamp& stamp) {
  if (files.empty() || StampOfOpenFile(files.front().get()) != stamp) return "";
  return platform::PathOfOpenFile(files.front().get());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> LoadInSandbox(LoadOrder order, std::vector<UniqueFd> files) {
  if (order.folder_files.empty()) {
    order.opened_path = PathOf(files, order.stamp);
  } else {
    absl::StatusOr<HandedFolder> folder = HandedFolder::Of(order.folder_files, std::move(files));
    if (!folder.ok()) return folder.status();
    order.handed = std::make_shared<const HandedFolder>(*std::move(folder));
  }
  const absl::StatusOr<Sandbox> sandbox = Sandbox::Enter(Sandbox::OptionsOf(order));
  if (!sandbox.ok()) return sandbox.status();
  if (absl::Status status = StartRuntime(order); !status.ok()) return status;
  if (absl::Status status = sandbox->Seal(); !status.ok()) return status;
  MPSD_FAILPOINT("worker.at_load");
  if (absl::Status status = CheckFile(order); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Model>> model = LoadModel(order);
  // The file may have been replaced between the first check and its opening.
  if (absl::Status status = CheckFile(order); model.ok() && !status.ok()) return status;
  return model;
}

bool IsLasting(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ||
         absl::IsUnimplemented(status);
}

}  // namespace mpsd
