#include "worker/model/encoder/weights/stored_zip.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

constexpr uint64_t kMaxEntries = 110'000;
constexpr uint16_t kEncrypted = 1;
constexpr uint16_t kZip64Extra = 1;
constexpr uint32_t kIn64Bits = 0xFFFFFFFF;  // the number is in the zip64 part

constexpr absl::string_view kEndMark("PK\5\6", 4);
constexpr absl::string_view kEnd64Mark("PK\6\6", 4);
constexpr absl::string_view kLocatorMark("PK\6\7", 4);
constexpr absl::string_view kEntryMark("PK\1\2", 4);
constexpr absl::string_view kHeaderMark("PK\3\4", 4);
constexpr size_t kEndBytes = 22;
constexpr size_t kEnd64Bytes = 56;
constexpr size_t kLocatorBytes = 20;
constexpr size_t kEntryBytes = 46;
constexpr size_t kHeaderBytes = 30;

absl::Status BadZip(absl::string_view what) { return absl::InvalidArgumentError(what); }

// Little-endian. REQUIRES: it lies in `bytes`.
template <typename Number>
Number NumberAt(absl::string_view bytes, size_t place) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + place, sizeof(number));
  return number;
}

struct Directory {
  uint64_t entries = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

absl::StatusOr<Directory> FindDirectory(absl::string_view file) {
  if (file.size() < kEndBytes) return BadZip("the file is too short for a zip file");
  const size_t end_at = file.size() - kEndBytes;
  const absl::string_view end = file.substr(end_at);
  if (!absl::StartsWith(end, kEndMark) || NumberAt<uint16_t>(end, 20) != 0) {
    return BadZip("the file has no end of a zip file: it is cut short, or of another format");
  }
  Directory directory = {NumberAt<uint16_t>(end, 10), NumberAt<uint32_t>(end, 16),
                         NumberAt<uint32_t>(end, 12)};
  uint64_t behind = end_at;
  if (end_at >= kLocatorBytes) {
    const absl::string_view locator = file.substr(end_at - kLocatorBytes, kLocatorBytes);
    if (absl::StartsWith(locator, kLocatorMark)) {
      behind = NumberAt<uint64_t>(locator, 8);
      if (end_at < kLocatorBytes + kEnd64Bytes || behind > end_at - kLocatorBytes - kEnd64Bytes ||
          !absl::StartsWith(file.substr(behind), kEnd64Mark)) {
        return BadZip("the zip file's end is in no place of the file");
      }
      const absl::string_view end64 = file.substr(behind, kEnd64Bytes);
      directory = {NumberAt<uint64_t>(end64, 32), NumberAt<uint64_t>(end64, 48),
                   NumberAt<uint64_t>(end64, 40)};
    }
  }
  if (directory.offset > behind || directory.bytes > behind - directory.offset) {
    return BadZip("the zip file's directory lies outside the file");
  }
  if (directory.entries > kMaxEntries) return BadZip("the zip file has too many entries");
  return directory;
}

struct Entry {
  std::string name;
  uint64_t offset = 0;  // where its header begins
  uint64_t bytes = 0;
};

absl::Status BadEntry(absl::string_view name, absl::string_view what) {
  return BadZip(absl::StrCat("the entry '", absl::CHexEscape(name.substr(0, 64)), "' ", what));
}

// Reads numbers that need 64 bits, in the format's order.
bool ReadZip64(absl::string_view extra, std::initializer_list<uint64_t*> numbers) {
  while (extra.size() >= 4) {
    const auto kind = NumberAt<uint16_t>(extra, 0);
    const size_t bytes = NumberAt<uint16_t>(extra, 2);
    extra.remove_prefix(4);
    if (bytes > extra.size()) return false;
    if (kind == kZip64Extra) {
      absl::string_view content = extra.substr(0, bytes);
      for (uint64_t* number : numbers) {
        if (*number != kIn64Bits) continue;
        if (content.size() < sizeof(*number)) return false;
        *number = NumberAt<uint64_t>(content, 0);
        content.remove_prefix(sizeof(*number));
      }
      return true;
    }
    extra.remove_prefix(bytes);
  }
  return std::none_of(numbers.begin(), numbers.end(),
                      [](const uint64_t* number) { return *number == kIn64Bits; });
}

absl::StatusOr<Entry> TakeEntry(absl::string_view* directory) {
  if (directory->size() < kEntryBytes || !absl::StartsWith(*directory, kEntryMark)) {
    return BadZip("the zip file's directory is malformed");
  }
  const absl::string_view head = directory->substr(0, kEntryBytes);
  directory->remove_prefix(kEntryBytes);
  const size_t name_bytes = NumberAt<uint16_t>(head, 28);
  const size_t extra_bytes = NumberAt<uint16_t>(head, 30);
  const size_t comment_bytes = NumberAt<uint16_t>(head, 32);
  if (name_bytes + extra_bytes + comment_bytes > directory->size()) {
    return BadZip("the zip file's directory is malformed");
  }
  Entry entry;
  entry.name = std::string(directory->substr(0, name_bytes));
  if ((NumberAt<uint16_t>(head, 8) & kEncrypted) != 0) return BadEntry(entry.name, "is encrypted");
  if (NumberAt<uint16_t>(head, 10) != 0) {
    return BadEntry(entry.name, "is compressed; weights are stored as they are");
  }
  entry.offset = NumberAt<uint32_t>(head, 42);
  entry.bytes = NumberAt<uint32_t>(head, 24);
  uint64_t packed_bytes = NumberAt<uint32_t>(head, 20);
  if (!ReadZip64(directory->substr(name_bytes, extra_bytes),
                 {&entry.bytes, &packed_bytes, &entry.offset}) ||
      entry.bytes != packed_bytes) {
    return BadEntry(entry.name, "has two sizes");
  }
  directory->remove_prefix(name_bytes + extra_bytes + comment_bytes);
  return entry;
}

// `space` lies before the directory.
absl::StatusOr<absl::string_view> EntryBytes(const Entry& entry, absl::string_view space) {
  if (entry.offset > space.size() || space.size() - entry.offset < kHeaderBytes) {
    return BadEntry(entry.name, "lies outside the file");
  }
  space.remove_prefix(entry.offset);
  const size_t name_bytes = NumberAt<uint16_t>(space, 26);
  const size_t before = kHeaderBytes + name_bytes + NumberAt<uint16_t>(space, 28);
  if (before > space.size() || entry.bytes > space.size() - before) {
    return BadEntry(entry.name, "lies outside the file");
  }
  if (!absl::StartsWith(space, kHeaderMark) ||
      space.substr(kHeaderBytes, name_bytes) != entry.name) {
    return BadEntry(entry.name, "has another header than the directory says");
  }
  return space.substr(before, entry.bytes);
}

// OK if no entry overlaps the next.
absl::Status CheckPlaces(std::vector<std::pair<uint64_t, uint64_t>> places) {
  std::sort(places.begin(), places.end());
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].first < places[i - 1].second) return BadZip("entries of the zip file overlap");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ZipEntries> ReadStoredZip(absl::string_view file) {
  const absl::StatusOr<Directory> directory = FindDirectory(file);
  if (!directory.ok()) return directory.status();
  const absl::string_view space = file.substr(0, directory->offset);
  absl::string_view listed = file.substr(directory->offset, directory->bytes);
  ZipEntries entries;
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (uint64_t i = 0; i < directory->entries; ++i) {
    absl::StatusOr<Entry> entry = TakeEntry(&listed);
    if (!entry.ok()) return entry.status();
    const absl::StatusOr<absl::string_view> bytes = EntryBytes(*entry, space);
    if (!bytes.ok()) return bytes.status();
    places.emplace_back(entry->offset, bytes->data() + bytes->size() - file.data());
    if (!entries.emplace(entry->name, *bytes).second)
      return BadEntry(entry->name, "is there twice");
  }
  if (absl::Status status = CheckPlaces(std::move(places)); !status.ok()) return status;
  return entries;
}

}  // namespace mpsd
