#include "proto/link/json_object.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/string_views.h"
#include "proto/base/units.h"
#include "proto/base/utf8.h"

namespace mpsd {
namespace {

constexpr size_t kShownBytes = 40;
constexpr size_t kMaxWordBytes = 32;  // longer keys resemble nothing

std::string Shown(std::string_view text, size_t limit) {
  if (text.size() <= limit) return absl::Utf8SafeCHexEscape(View(text));
  return absl::StrCat(absl::Utf8SafeCHexEscape(CutAtCharacter(View(text), limit)), "…");
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

// Empty if no word is near.
std::string_view Nearest(std::string_view text, absl::Span<const std::string_view> words) {
  std::string_view nearest;
  size_t nearest_distance = text.size() / 3 + 2;  // farther away is another word
  for (const std::string_view word : words) {
    if (text.size() > kMaxWordBytes) break;
    const size_t distance = EditDistance(text, word);
    if (distance >= nearest_distance || distance >= word.size()) continue;
    nearest = word;
    nearest_distance = distance;
  }
  return nearest;
}

}  // namespace

void JsonErrors::Add(std::string path, std::string what) {
  if (errors_.size() == kMaxErrors) {
    ++left_out_;
    return;
  }
  errors_.push_back({std::move(path), std::move(what)});
}

absl::Status JsonErrors::ToStatus() const {
  if (errors_.empty()) return absl::OkStatus();
  std::string text = absl::StrJoin(errors_, "\n", [](std::string* out, const JsonError& error) {
    absl::StrAppend(out, error.path, error.path.empty() ? "" : ": ", error.what);
  });
  if (left_out_ > 0) absl::StrAppend(&text, "\nand ", left_out_, " more");
  return absl::InvalidArgumentError(text);
}

JsonObject::JsonObject(const nlohmann::json& json, std::string path,
                       absl::Span<const std::string_view> keys, JsonErrors* errors,
                       absl::Span<const Inner> inner)
    : json_(json.is_object() ? &json : nullptr),
      path_(std::move(path)),
      keys_(keys),
      errors_(errors) {
  if (json_ == nullptr) {
    errors_->Add(path_, WrongType("an object", json));
    return;
  }
  for (const auto& item : json.items()) {
    if (!Knows(item.key())) ReportUnknown(item.key(), inner);
  }
}

void JsonObject::ReportUnknown(const std::string& key, absl::Span<const Inner> inner) const {
  const bool is_near = !Nearest(key, keys_).empty();
  for (const Inner& object : inner) {
    const std::string_view nearest = Nearest(key, object.keys);
    if (nearest.empty() || (is_near && nearest != key)) continue;
    return Fail(key, absl::StrCat("unknown key; did you mean '", View(object.key), ".",
                                  View(nearest), "'?"));
  }
  Fail(key, absl::StrCat("unknown key", DidYouMean(key, keys_, "the keys here are")));
}

const nlohmann::json* JsonObject::Find(std::string_view key) const {
  MPSD_CHECK(Knows(key));
  if (json_ == nullptr) return nullptr;
  const auto found = json_->find(std::string(key));
  return found == json_->end() ? nullptr : &*found;
}

void JsonObject::Require(std::string_view key) const {
  if (json_ != nullptr && Find(key) == nullptr) {
    errors_->Add(path_, absl::StrCat("'", View(key), "' is missing"));
  }
}

void JsonObject::Get(std::string_view key, std::string* value) const {
  const nlohmann::json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_string()) return Fail(key, WrongType("a string", *found));
  *value = found->get<std::string>();
}

void JsonObject::Get(std::string_view key, double* value) const {
  const nlohmann::json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_number()) return Fail(key, WrongType("a number", *found));
  *value = found->get<double>();
}

void JsonObject::Get(std::string_view key, bool* value) const {
  const nlohmann::json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_boolean()) return Fail(key, WrongType("true or false", *found));
  *value = found->get<bool>();
}

void JsonObject::Get(std::string_view key, uint64_t minimum, uint64_t maximum,
                     uint32_t* value) const {
  MPSD_CHECK(minimum <= maximum && maximum <= UINT32_MAX);
  const nlohmann::json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_number()) return Fail(key, WrongType("a whole number", *found));
  // A number that no parser made may be stored as signed.
  const bool whole =
      found->is_number_unsigned() || (found->is_number_integer() && found->get<int64_t>() >= 0);
  const uint64_t number = whole ? found->get<uint64_t>() : 0;
  if (!whole || number < minimum || number > maximum) {
    return Fail(key, absl::StrCat("must be a whole number from ", minimum, " to ", maximum,
                                  ", not ", JsonText(*found)));
  }
  *value = static_cast<uint32_t>(number);
}

void JsonObject::GetDuration(std::string_view key, int64_t maximum_ns, int64_t* value_ns) const {
  const nlohmann::json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_string()) return Fail(key, WrongType("a duration like '500us'", *found));
  const absl::StatusOr<int64_t> parsed = ParseDurationNs(found->get<std::string>());
  if (!parsed.ok()) return Fail(key, std::string(parsed.status().message()));
  if (*parsed > maximum_ns) {
    return Fail(key, absl::StrCat("must be at most ", maximum_ns / kNsPerSecond, "s, not ",
                                  JsonText(*found)));
  }
  *value_ns = *parsed;
}

void JsonObject::GetBytes(std::string_view key, uint64_t minimum, uint64_t maximum,
                          uint64_t* value) const {
  const nlohmann::json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_string()) return Fail(key, WrongType("a size like '64MiB'", *found));
  const absl::StatusOr<uint64_t> parsed = ParseBytes(found->get<std::string>());
  if (!parsed.ok()) return Fail(key, std::string(parsed.status().message()));
  if (*parsed < minimum || *parsed > maximum) {
    return Fail(key, absl::StrCat("must be from ", BytesText(minimum), " to ", BytesText(maximum),
                                  ", not ", JsonText(*found)));
  }
  *value = *parsed;
}

void JsonObject::GetChoice(std::string_view key, absl::Span<const std::string_view> choices,
                           size_t* index) const {
  const nlohmann::json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_string()) return Fail(key, WrongType("a string", *found));
  const auto& text = found->get_ref<const std::string&>();
  const auto choice = std::find(choices.begin(), choices.end(), text);
  if (choice == choices.end()) {
    return Fail(key, absl::StrCat("there is no ", JsonText(*found), " here",
                                  DidYouMean(text, choices, "the choices are")));
  }
  *index = static_cast<size_t>(choice - choices.begin());
}

void JsonObject::GetList(std::string_view key, size_t maximum, const ReadElement& read) const {
  const nlohmann::json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_array()) return Fail(key, WrongType("a list", *found));
  if (found->size() > maximum) {
    return Fail(
        key, absl::StrCat("has ", found->size(), " elements; at most ", maximum, " are allowed"));
  }
  const std::string list_path = PathOf(key);
  for (size_t i = 0; i < found->size(); ++i) read((*found)[i], JsonPath(list_path, i));
}

void JsonObject::GetMembers(std::string_view key, size_t maximum, const ReadMember& read) const {
  const nlohmann::json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_object()) return Fail(key, WrongType("an object", *found));
  if (found->size() > maximum) {
    return Fail(key,
                absl::StrCat("has ", found->size(), " members; at most ", maximum, " are allowed"));
  }
  const std::string path = PathOf(key);
  for (const auto& item : found->items())
    read(item.key(), item.value(), JsonPath(path, item.key()));
}

void JsonObject::Fail(std::string_view key, std::string what) const {
  errors_->Add(PathOf(key), std::move(what));
}

std::string JsonObject::PathOf(std::string_view key) const { return JsonPath(path_, key); }

bool JsonObject::Knows(std::string_view key) const {
  return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
}

std::string JsonPath(const std::string& path, std::string_view key) {
  const bool plain = !key.empty() && key.size() <= kMaxNameBytes &&
                     std::all_of(key.begin(), key.end(), [](unsigned char c) {
                       return absl::ascii_isalnum(c) || c == '_' || c == '-';
                     });
  if (!plain) return absl::StrCat(path, "['", Shown(key, kMaxNameBytes), "']");
  return absl::StrCat(path, path.empty() ? "" : ".", View(key));
}

std::string JsonPath(const std::string& path, size_t index) {
  return absl::StrCat(path, "[", index, "]");
}

std::string JsonText(const nlohmann::json& json) {
  if (json.is_string()) {
    return absl::StrCat("'", Shown(json.get_ref<const std::string&>(), kShownBytes), "'");
  }
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  // Replaces what is not UTF-8, where dump() would throw.
  return Shown(json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), kShownBytes);
}

std::string WrongType(std::string_view wanted, const nlohmann::json& json) {
  std::string_view kind = "null";
  if (json.is_object()) kind = "an object";
  if (json.is_array()) kind = "a list";
  if (json.is_string()) kind = "a string";
  if (json.is_boolean()) kind = "a boolean";
  if (json.is_number()) kind = "a number";
  return absl::StrCat("must be ", View(wanted), ", not ", View(kind));
}

std::string DidYouMean(std::string_view text, absl::Span<const std::string_view> words,
                       std::string_view otherwise) {
  const std::string_view nearest = Nearest(text, words);
  if (!nearest.empty()) return absl::StrCat("; did you mean '", View(nearest), "'?");
  return absl::StrCat("; ", View(otherwise), " ",
                      absl::StrJoin(words, ", ", [](std::string* out, std::string_view word) {
                        out->append(word);
                      }));
}

}  // namespace mpsd
