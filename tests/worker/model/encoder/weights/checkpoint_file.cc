#include "tests/worker/model/encoder/weights/checkpoint_file.h"

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

std::string SizesOf(const ZipEntry& entry) {
  const auto told =
      static_cast<uint32_t>(entry.told_bytes == UINT64_MAX ? entry.content.size() : 0xFFFFFFFF);
  return BytesOf(told) + BytesOf(told);
}

// The numbers that do not fit 32 bits.
std::string ExtraOf(const ZipEntry& entry) {
  std::string numbers;
  if (entry.told_bytes != UINT64_MAX) {
    numbers += BytesOf(entry.told_bytes) + BytesOf(entry.told_bytes);
  }
  if (entry.told_offset != UINT64_MAX) numbers += BytesOf(entry.told_offset);
  if (numbers.empty()) return "";
  return BytesOf<uint16_t>(1) + BytesOf(static_cast<uint16_t>(numbers.size())) + numbers;
}

std::string HeaderOf(const ZipEntry& entry) {
  std::string header("PK\3\4", 4);
  header += BytesOf<uint16_t>(0) + BytesOf(entry.flags) + BytesOf(entry.method);
  header += BytesOf<uint32_t>(0) + BytesOf<uint32_t>(0) + SizesOf(entry);
  return header + BytesOf(static_cast<uint16_t>(entry.name.size())) + BytesOf<uint16_t>(0) +
         entry.name;
}

std::string ListingOf(const ZipEntry& entry, uint64_t offset) {
  const std::string extra = ExtraOf(entry);
  std::string listing("PK\1\2", 4);
  listing += BytesOf<uint32_t>(0) + BytesOf(entry.flags) + BytesOf(entry.method);
  listing += BytesOf<uint32_t>(0) + BytesOf<uint32_t>(0) + SizesOf(entry);
  listing += BytesOf(static_cast<uint16_t>(entry.name.size())) +
             BytesOf(static_cast<uint16_t>(extra.size())) + std::string(10, '\0');
  listing += BytesOf(static_cast<uint32_t>(entry.told_offset == UINT64_MAX ? offset : 0xFFFFFFFF));
  return listing + entry.name + extra;
}

}  // namespace

std::string ZipOf(const std::vector<ZipEntry>& entries, bool has_zip64) {
  std::string file;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    directory += ListingOf(entry, file.size());
    file += HeaderOf(entry) + entry.content;
  }
  const uint64_t offset = file.size();
  file += directory;
  if (has_zip64) {
    const uint64_t end = file.size();
    file += std::string("PK\6\6", 4) + BytesOf<uint64_t>(44) + std::string(12, '\0') +
            BytesOf<uint64_t>(entries.size()) + BytesOf<uint64_t>(entries.size()) +
            BytesOf<uint64_t>(directory.size()) + BytesOf(offset);
    file += std::string("PK\6\7", 4) + BytesOf<uint32_t>(0) + BytesOf(end) + BytesOf<uint32_t>(1);
  }
  const auto count = static_cast<uint16_t>(entries.size());
  return file + std::string("PK\5\6", 4) + BytesOf<uint32_t>(0) + BytesOf(count) + BytesOf(count) +
         BytesOf(static_cast<uint32_t>(directory.size())) + BytesOf(static_cast<uint32_t>(offset)) +
         BytesOf<uint16_t>(0);
}

namespace pickle {

std::string Text(const std::string& text) {
  return "X" + BytesOf(static_cast<uint32_t>(text.size())) + text;
}

std::string Number(int64_t number) { return "\x8a\x08" + BytesOf(number); }

std::string Tuple(const std::vector<int64_t>& numbers) {
  std::string tuple = "(";
  for (const int64_t number : numbers) tuple += Number(number);
  return tuple + "t";
}

std::string Global(const std::string& module, const std::string& name) {
  return absl::StrCat("c", module, "\n", name, "\n");
}

std::string Storage(const std::string& type, const std::string& key, int64_t count) {
  return "(" + Text("storage") + Global("torch", type) + Text(key) + Text("cpu") + Number(count) +
         "tQ";
}

std::string Tensor(const std::string& storage, int64_t offset, const std::vector<int64_t>& shape,
                   const std::vector<int64_t>& strides) {
  return Global("torch._utils", "_rebuild_tensor_v2") + "(" + storage + Number(offset) +
         Tuple(shape) + Tuple(strides) + "\x89" + kDict + "tR";
}

std::string Of(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string text = kBegin + kDict + "(";
  for (const auto& [name, value] : items) text += Text(name) + value;
  return text + "u.";
}

}  // namespace pickle

std::string CheckpointOf(const std::string& pickle, const std::vector<std::string>& storages) {
  std::vector<ZipEntry> entries = {{"m/data.pkl", pickle}, {"m/byteorder", "little"}};
  for (size_t i = 0; i < storages.size(); ++i) {
    entries.push_back({absl::StrCat("m/data/", i), storages[i]});
  }
  entries.push_back({"m/version", "3\n"});
  return ZipOf(entries);
}

}  // namespace mpsd
