#include "client/hub/hub_listing.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/json_bounds.h"

namespace mpsd::hub {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostFiles = 10000;
constexpr size_t kMostDepth = 32;
constexpr size_t kMostValues = 400000;
constexpr size_t kMostPathBytes = 512;
constexpr size_t kMostParts = 6;
constexpr uint64_t kMostFileBytes = 1ULL << 48;  // more than a disk has; sums do not overflow

absl::Status Wrong(absl::string_view why) {
  return absl::InternalError(absl::StrCat("the hub's list of files ", why));
}

bool IsHex(absl::string_view text, size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char digit) {
           return absl::ascii_isdigit(static_cast<unsigned char>(digit)) ||
                  (digit >= 'a' && digit <= 'f');
         });
}

bool IsSafePath(absl::string_view path) {
  if (path.empty() || path.size() > kMostPathBytes) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  return parts.size() <= kMostParts &&
         std::all_of(parts.begin(), parts.end(), [](absl::string_view part) {
           return !part.empty() && part != "." && part != ".." && part.size() <= 255 &&
                  std::none_of(part.begin(), part.end(), [](char letter) {
                    return letter == '\\' || static_cast<unsigned char>(letter) < 0x20 ||
                           letter == 0x7f;
                  });
         });
}

std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

uint64_t SizeOf(const Json& object) {
  const auto found = object.find("size");
  const bool is_number = found != object.end() && found->is_number_unsigned();
  return is_number ? std::min(found->get<uint64_t>(), kMostFileBytes) : 0;
}

absl::StatusOr<HubFile> ReadFile(const Json& entry) {
  if (!entry.is_object()) return Wrong("has an entry that is no file");
  HubFile file;
  file.path = TextOf(entry, "rfilename");
  if (!IsSafePath(file.path)) {
    return Wrong(absl::StrCat("names a file that cannot be kept: ",
                              Json(file.path).dump(-1, ' ', true, Json::error_handler_t::replace)));
  }
  const auto large = entry.find("lfs");
  const bool is_large = large != entry.end() && large->is_object();
  file.id = is_large ? TextOf(*large, "sha256") : TextOf(entry, "blobId");
  file.bytes = is_large ? SizeOf(*large) : SizeOf(entry);
  if (!IsHex(file.id, is_large ? 64 : 40)) {
    return Wrong(absl::StrCat("has no id for ", file.path));
  }
  return file;
}

constexpr absl::string_view kNeeded[] = {"config.json",
                                         "tokenizer.json",
                                         "tokenizer_config.json",
                                         "added_tokens.json",
                                         "special_tokens_map.json",
                                         "vocab.txt",
                                         "modules.json",
                                         "config_sentence_transformers.json",
                                         "model.safetensors",
                                         "model.safetensors.index.json",
                                         "pytorch_model.bin",
                                         "pytorch_model.bin.index.json"};

bool IsDigits(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char digit) {
    return absl::ascii_isdigit(static_cast<unsigned char>(digit));
  });
}

// 3 for "model-00001-of-00003.safetensors" or "pytorch_model-00001-of-00003.bin", 0 for other
// files.
uint32_t ShardCount(absl::string_view path) {
  const bool is_shard =
      (absl::ConsumePrefix(&path, "model-") && absl::ConsumeSuffix(&path, ".safetensors")) ||
      (absl::ConsumePrefix(&path, "pytorch_model-") && absl::ConsumeSuffix(&path, ".bin"));
  if (!is_shard) return 0;
  const std::pair<absl::string_view, absl::string_view> numbers =
      absl::StrSplit(path, absl::MaxSplits("-of-", 1));
  uint32_t count = 0;
  const bool are_numbers = IsDigits(numbers.first) && IsDigits(numbers.second);
  return are_numbers && absl::SimpleAtoi(numbers.second, &count) ? count : 0;
}

// sentence-transformers has "1_Pooling/config.json".
bool IsOfModule(absl::string_view path) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(path, absl::MaxSplits('/', 1));
  const std::pair<absl::string_view, absl::string_view> folder =
      absl::StrSplit(parts.first, absl::MaxSplits('_', 1));
  return IsDigits(folder.first) && !folder.second.empty() &&
         (parts.second == "config.json" || parts.second == "model.safetensors" ||
          parts.second == "pytorch_model.bin");
}

// "sentence_bert_config.json", "sentence_xlm-roberta_config.json"
bool IsOfSentences(absl::string_view path) {
  return absl::StartsWith(path, "sentence_") && absl::EndsWith(path, "_config.json") &&
         !absl::StrContains(path, '/');
}

// Hubs keep much else, such as weights in other formats.
bool IsNeeded(absl::string_view path) {
  return std::find(std::begin(kNeeded), std::end(kNeeded), path) != std::end(kNeeded) ||
         IsOfSentences(path) || ShardCount(path) > 0 || IsOfModule(path);
}

// "2_Dense" for "2_Dense/model.safetensors"; empty for the model's own folder.
absl::string_view FolderOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? "" : path.substr(0, slash);
}

// torch.save() has written these, or a list names them.
bool IsPickled(absl::string_view path) {
  return absl::StartsWith(path.substr(path.rfind('/') + 1), "pytorch_model");
}

}  // namespace

uint64_t BytesOf(const std::vector<HubFile>& files) {
  uint64_t bytes = 0;
  for (const HubFile& file : files) bytes += file.bytes;
  return bytes;
}

absl::StatusOr<HubListing> ReadListing(absl::string_view json) {
  if (CheckJsonBounds(json, kMostDepth, kMostValues) != JsonBound::kWithin) {
    return Wrong("is too large");
  }
  const Json answer = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return Wrong("is no JSON object");
  HubListing listing;
  listing.commit = TextOf(answer, "sha");
  if (!IsHex(listing.commit, 40)) return Wrong("names no commit");
  const auto files = answer.find("siblings");
  if (files == answer.end() || !files->is_array()) return Wrong("has no files");
  if (files->size() > kMostFiles) return Wrong(absl::StrCat("has more than ", kMostFiles));
  for (const Json& entry : *files) {
    absl::StatusOr<HubFile> file = ReadFile(entry);
    if (!file.ok()) return file.status();
    listing.files.push_back(*std::move(file));
  }
  return listing;
}

absl::StatusOr<std::vector<HubFile>> NeededFiles(const HubListing& listing) {
  std::vector<HubFile> needed;
  bool has_config = false;
  bool has_weights = false;
  std::set<absl::string_view> with_safetensors;  // folders
  for (const HubFile& file : listing.files) {
    if (IsNeeded(file.path) && absl::EndsWith(file.path, ".safetensors")) {
      with_safetensors.insert(FolderOf(file.path));
    }
  }
  for (const HubFile& file : listing.files) {
    if (!IsNeeded(file.path)) continue;
    if (IsPickled(file.path) && with_safetensors.count(FolderOf(file.path)) > 0) continue;
    has_config = has_config || file.path == "config.json";
    has_weights = has_weights || (IsWeights(file.path) && !absl::StrContains(file.path, '/'));
    needed.push_back(file);
  }
  if (!has_config) {
    return absl::FailedPreconditionError(
        "it has no config.json, so it is no model that mpsd reads");
  }
  if (!has_weights) {
    return absl::FailedPreconditionError("it has no weights as safetensors or pytorch_model.bin");
  }
  return needed;
}

bool IsWeights(absl::string_view path) {
  return absl::EndsWith(path, ".safetensors") || absl::EndsWith(path, ".bin");
}

absl::Status CheckWhole(const std::vector<HubFile>& files) {
  const auto needed = NeededFiles({"", files});
  if (!needed.ok()) return absl::NotFoundError(needed.status().message());
  std::map<uint32_t, uint32_t> shards;  // by how many there should be, how many are there
  for (const HubFile& file : *needed) {
    if (const uint32_t count = ShardCount(file.path); count > 0) ++shards[count];
  }
  for (const auto& [wanted, there] : shards) {
    if (there >= wanted) continue;
    return absl::NotFoundError(
        absl::StrCat(wanted - there, " of its ", wanted, " files of weights are missing"));
  }
  return absl::OkStatus();
}

}  // namespace mpsd::hub
