#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "text/tokenizer/part_readers.h"

namespace mpsd::text {
namespace {

using Kind = FramePart::Kind;
using SpecialIds = std::map<std::string, std::vector<int32_t>>;

constexpr int64_t kMaxId = 1 << 24;
constexpr size_t kMaxParts = 64;

absl::StatusOr<SpecialIds> ReadSpecialIds(const Json& json, const std::string& where) {
  SpecialIds special;
  if (!json.is_object()) return PartError(where, "it must be an object");
  for (const auto& item : json.items()) {
    Fields fields(item.value(), absl::StrCat(where, ".", item.key()));
    fields.Text("id", "");
    fields.Find("tokens");
    const Json* ids = fields.Need("ids");
    if (ids != nullptr && (!ids->is_array() || ids->size() > kMaxParts)) {
      fields.Complain("'ids' must be a short array");
    } else if (ids != nullptr) {
      for (const Json& id : *ids) {
        if (!id.is_number_unsigned() || id.get<uint64_t>() > kMaxId)
          fields.Complain("a wrong id");
        else
          special[item.key()].push_back(id.get<int32_t>());
      }
    }
    const absl::Status status = fields.Finish();
    if (!status.ok()) return status;
  }
  return special;
}

// Reads {"Sequence": {…}} or {"SpecialToken": {…}}.
absl::Status ReadPlace(const Json& json, const SpecialIds& special, const std::string& where,
                       std::vector<FramePart>* parts) {
  Fields fields(json, where);
  const Json* sequence = fields.Find("Sequence");
  const Json* token = fields.Find("SpecialToken");
  if ((sequence == nullptr) == (token == nullptr)) fields.Complain("a Sequence or a SpecialToken");
  absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  Fields place(sequence != nullptr ? *sequence : *token, where);
  const std::string id = place.Text("id", "");
  const auto type_id = static_cast<uint8_t>(place.Number("type_id", 0, 0, 255));
  if (sequence != nullptr) {
    if (id != "A" && id != "B") place.Complain("a Sequence must be A or B");
    parts->push_back({id == "A" ? Kind::kFirst : Kind::kSecond, 0, type_id});
  } else if (const auto ids = special.find(id); ids == special.end()) {
    place.Complain(absl::StrCat("'", id, "' is no special token"));
  } else {
    for (const int32_t of_token : ids->second) parts->push_back({Kind::kId, of_token, type_id});
  }
  return place.Finish();
}

absl::StatusOr<std::vector<FramePart>> ReadPlaces(const Json& json, const SpecialIds& special,
                                                  const std::string& where, bool is_pair) {
  if (!json.is_array() || json.size() > kMaxParts)
    return PartError(where, "a short array is wanted");
  std::vector<FramePart> parts;
  for (const Json& place : json) {
    const absl::Status status = ReadPlace(place, special, where, &parts);
    if (!status.ok()) return status;
  }
  const auto count = [&parts](Kind kind) {
    return std::count_if(parts.begin(), parts.end(),
                         [kind](const FramePart& part) { return part.kind == kind; });
  };
  if (count(Kind::kFirst) != 1 || count(Kind::kSecond) != (is_pair ? 1 : 0)) {
    return PartError(where, is_pair ? "A and B must be there once each" : "A must be there once");
  }
  return parts;
}

absl::StatusOr<Frame> ReadTemplateFrame(Fields fields) {
  const Json* special_json = fields.Need("special_tokens");
  const Json* single = fields.Need("single");
  const Json* pair = fields.Need("pair");
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  const auto special = ReadSpecialIds(*special_json, fields.where() + ".special_tokens");
  if (!special.ok()) return special.status();
  auto single_parts = ReadPlaces(*single, *special, fields.where() + ".single", false);
  if (!single_parts.ok()) return single_parts.status();
  auto pair_parts = ReadPlaces(*pair, *special, fields.where() + ".pair", true);
  if (!pair_parts.ok()) return pair_parts.status();
  return Frame{*std::move(single_parts), *std::move(pair_parts)};
}

// Reads a pair such as ["[SEP]", 102].
int32_t ReadNamedId(const char* key, Fields* fields) {
  const Json* named = fields->Need(key);
  if (named == nullptr) return 0;
  if (named->is_array() && named->size() == 2 && (*named)[1].is_number_unsigned() &&
      (*named)[1].get<uint64_t>() <= kMaxId) {
    return (*named)[1].get<int32_t>();
  }
  fields->Complain(absl::StrCat("'", key, "' must be a token and its id"));
  return 0;
}

absl::StatusOr<Frame> ReadBertFrame(Fields fields) {
  const int32_t sep = ReadNamedId("sep", &fields);
  const int32_t cls = ReadNamedId("cls", &fields);
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  return BertFrame(cls, sep);
}

// All types are 0.
absl::StatusOr<Frame> ReadRobertaFrame(Fields fields) {
  const FramePart sep = {Kind::kId, ReadNamedId("sep", &fields), 0};
  const FramePart cls = {Kind::kId, ReadNamedId("cls", &fields), 0};
  for (const char* of_offsets : {"trim_offsets", "add_prefix_space"}) fields.Flag(of_offsets, true);
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  const FramePart first = {Kind::kFirst, 0, 0};
  const FramePart second = {Kind::kSecond, 0, 0};
  return Frame{{cls, first, sep}, {cls, first, sep, sep, second, sep}};
}

absl::StatusOr<Frame> ReadByteLevelFrame(Fields fields) {
  for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) fields.Flag(key, true);
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  return Frame{};
}

absl::StatusOr<Frame> ReadFrameSequence(Fields fields) {
  const Json* list = fields.Need("processors");
  if (list != nullptr && (!list->is_array() || list->size() > kMaxParts)) {
    fields.Complain("'processors' must be a short array");
  }
  const absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  absl::StatusOr<Frame> only = Frame{};
  for (const Json& one : *list) {
    absl::StatusOr<Frame> frame = ReadFrame(one);
    if (!frame.ok()) return frame;
    if (*frame == Frame{}) continue;
    if (*only != Frame{}) {
      return PartError("post_processor", "two processors of a sequence add tokens");
    }
    only = std::move(frame);
  }
  return only;
}

}  // namespace

absl::StatusOr<Frame> ReadFrame(const Json& json) {
  Fields fields(json, "post_processor");
  const std::string type = fields.Text("type", "");
  if (type == "RobertaProcessing") return ReadRobertaFrame(std::move(fields));
  if (type == "ByteLevel") return ReadByteLevelFrame(std::move(fields));
  if (type == "Sequence") return ReadFrameSequence(std::move(fields));
  if (type == "TemplateProcessing") return ReadTemplateFrame(std::move(fields));
  if (type == "BertProcessing") return ReadBertFrame(std::move(fields));
  return PartError("post_processor", absl::StrCat("the type '", type, "' is not known"));
}

}  // namespace mpsd::text
