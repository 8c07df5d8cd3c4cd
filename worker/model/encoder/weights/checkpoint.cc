#include "worker/model/encoder/weights/checkpoint.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "worker/model/encoder/weights/stored_zip.h"
#include "worker/model/encoder/weights/weight_pickle.h"

namespace mpsd {
namespace {

constexpr absl::string_view kPickle = "/data.pkl";

absl::Status BadCheckpoint(absl::string_view what) { return absl::InvalidArgumentError(what); }

}  // namespace

absl::StatusOr<StoredTensors> ParseCheckpoint(absl::string_view file) {
  // A pickle's first instruction, where a zip file has "PK".
  if (absl::StartsWith(file, "\x80")) {
    return BadCheckpoint(
        "the file is in the format of torch before 1.6; convert it with torch: "
        "torch.save(torch.load(FILE, map_location='cpu', weights_only=True), FILE)");
  }
  const absl::StatusOr<ZipEntries> entries = ReadStoredZip(file);
  if (!entries.ok()) return entries.status();
  std::string folder;
  for (const auto& [name, bytes] : *entries) {
    absl::string_view before = name;
    if (!absl::ConsumeSuffix(&before, kPickle) || absl::StrContains(before, '/')) continue;
    if (!folder.empty()) return BadCheckpoint("the file has two data.pkl");
    folder = std::string(before);
  }
  if (folder.empty())
    return BadCheckpoint("the file has no data.pkl: torch.save() has not written it");
  if (const auto order = entries->find(folder + "/byteorder");
      order != entries->end() && order->second != "little") {
    return BadCheckpoint("the file's numbers are not little-endian");
  }
  const std::string data = folder + "/data/";
  ZipEntries storages;
  for (auto entry = entries->lower_bound(data);
       entry != entries->end() && absl::StartsWith(entry->first, data); ++entry) {
    storages.emplace(entry->first.substr(data.size()), entry->second);
  }
  absl::StatusOr<StoredTensors> tensors =
      ParseWeightPickle(entries->find(absl::StrCat(folder, kPickle))->second, storages);
  if (tensors.ok()) return tensors;
  return BadCheckpoint(absl::StrCat("data.pkl ", tensors.status().message()));
}

}  // namespace mpsd
