// JsonWalk: reads untrusted JSON with simdjson, strictly, and words its faults for clients.
//
// simdjson's on-demand reader costs a tenth of building a tree. Only files that read bodies include
// this one, because simdjson.h is large. All code that uses the reader follows three rules:
//
//   1. A value that nobody reads is not checked. So read each one, or pass it to SkipValue().
//   2. kBodyPadding readable bytes follow the text.
//   3. A string is unescaped into the reader's own memory, and only once. To keep it, copy it.
//
// All functions are thread-safe.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/string_views.h"
#include "server/bodies/json/body_padding.h"

namespace mpsd {

namespace ondemand = simdjson::ondemand;

static_assert(kBodyPadding >= simdjson::SIMDJSON_PADDING);

// The first bounds our stack.
inline constexpr int kMaxJsonDepth = 32;
inline constexpr size_t kMaxJsonFields = 1024;  // per object

// All INVALID_ARGUMENT.
absl::Status NotJson(simdjson::error_code error);
absl::Status Unparsable(absl::string_view field, absl::string_view why);
absl::Status NoField(absl::string_view field);
absl::Status TooDeep(int most);

bool IsNull(ondemand::value value);

// INVALID_ARGUMENT for another type; nothing is converted.
absl::Status ReadText(ondemand::value value, absl::string_view field, absl::string_view* text);
absl::Status ReadFlag(ondemand::value value, absl::string_view field, bool* flag);
absl::Status ReadUnsigned(ondemand::value value, absl::string_view field, uint64_t* number);
absl::Status ReadSigned(ondemand::value value, absl::string_view field, int64_t* number);
absl::Status ReadArray(ondemand::value value, absl::string_view field, ondemand::array* array);
absl::Status ReadObject(ondemand::value value, absl::string_view field, ondemand::object* object);

// Checks an unwanted value inside `depth` arrays and objects.
absl::Status SkipValue(ondemand::value value, int depth);

// OK if only white space follows the document's value, which was read.
absl::Status CheckEnd(ondemand::document* document);

// The keys of one object so far. Lives on one thread, during one ForEachField().
class SeenKeys {
 public:
  // INVALID_ARGUMENT for a repeated key, or too many. Readers disagree on which of two values
  // counts: a gate in front of this server might have read the other one.
  absl::Status Add(absl::string_view key);

 private:
  absl::InlinedVector<absl::string_view, 8> few_;
  absl::flat_hash_set<absl::string_view> many_;  // used once there are more than a few
  size_t count_ = 0;
};

// Half a surrogate pair is an error; some versions of simdjson want to be told so.
template <typename Field>
auto UnescapedKey(Field* field) {
  if constexpr (requires { field->unescaped_key(false); }) {
    return field->unescaped_key(false);
  } else {
    return field->unescaped_key();
  }
}

// Calls `take(key, value)` for each field, until `take` returns an error. The keys live as long as
// the reader.
template <typename Take>
absl::Status ForEachField(ondemand::object object, Take take) {
  SeenKeys seen;
  for (auto entry : object) {
    ondemand::field field;
    if (const auto error = std::move(entry).get(field); error) return NotJson(error);
    std::string_view text;
    if (const auto error = UnescapedKey(&field).get(text); error) return NotJson(error);
    const absl::string_view key = View(text);
    absl::Status status = seen.Add(key);
    if (status.ok()) status = take(key, field.value());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Calls `take(value)` for each element, likewise.
template <typename Take>
absl::Status ForEachElement(ondemand::array array, Take take) {
  for (auto entry : array) {
    ondemand::value value;
    if (const auto error = std::move(entry).get(value); error) return NotJson(error);
    if (absl::Status status = take(value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Reads an object of `bytes` bytes, as ForEachField(). Only `readable_bytes` may be touched.
template <typename Take>
absl::Status ReadDocument(const char* text, size_t bytes, size_t readable_bytes, Take take) {
  ondemand::parser parser;
  ondemand::document document;
  const simdjson::padded_string_view view(text, bytes, readable_bytes);
  if (const auto error = parser.iterate(view).get(document); error) return NotJson(error);
  ondemand::object object;
  if (const auto error = document.get_object().get(object); error) return NotJson(error);
  const absl::Status status = ForEachField(object, take);
  return status.ok() ? CheckEnd(&document) : status;
}

}  // namespace mpsd
