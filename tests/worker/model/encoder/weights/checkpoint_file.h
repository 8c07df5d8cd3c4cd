// CheckpointFile: a file as torch.save() writes it, byte by byte, for tests that change bytes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mpsd {

// The little-endian bytes of a number.
template <typename Number>
std::string BytesOf(Number number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

// An entry of a zip file; a test may let it lie.
struct ZipEntry {
  std::string name;
  std::string content;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint64_t told_bytes = UINT64_MAX;   // in the directory; UINT64_MAX: the truth
  uint64_t told_offset = UINT64_MAX;  // the same
};

// A zip file of these entries, with its end in zip64 as torch has it, or as the first zip had it.
std::string ZipOf(const std::vector<ZipEntry>& entries, bool has_zip64 = true);

// Parts of a pickle.
namespace pickle {
inline const std::string kBegin = "\x80\x02";
inline const std::string kDict = "ccollections\nOrderedDict\n)R";
std::string Text(const std::string& text);
std::string Number(int64_t number);  // as LONG1
std::string Tuple(const std::vector<int64_t>& numbers);
std::string Global(const std::string& module, const std::string& name);
std::string Storage(const std::string& type, const std::string& key, int64_t count);
// A call of _rebuild_tensor_v2.
std::string Tensor(const std::string& storage, int64_t offset, const std::vector<int64_t>& shape,
                   const std::vector<int64_t>& strides);
// A dict of names and values, the whole pickle.
std::string Of(const std::vector<std::pair<std::string, std::string>>& items);
}  // namespace pickle

// A checkpoint with this pickle, and the storages "0", "1", ….
std::string CheckpointOf(const std::string& pickle, const std::vector<std::string>& storages);

}  // namespace mpsd
