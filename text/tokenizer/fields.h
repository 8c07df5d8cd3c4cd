// Fields: reads one JSON object, and reports every key that nobody read.
//
//   Fields fields(json, "normalizer");
//   options.lowercase = fields.Flag("lowercase", true);
//   if (const absl::Status status = fields.Finish(); !status.ok()) return status;
//
// An unknown key might change every id, so a tokenizer.json with one is refused. Each getter makes
// its key known, even if the file does not have it; a key whose value does not matter is read with
// Find() and ignored.
//
// Values are valid only once Finish() was OK: after a fault a getter returns the value for a
// missing key, and Need() null.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd::text {

using Json = nlohmann::json;

inline constexpr size_t kMaxJsonDepth = 32;
// Each may take some hundred bytes. The largest known settings, Gemma's, have some 50,000.
inline constexpr size_t kMaxJsonValues = 1 << 17;

// Parses the text of a file beside a tokenizer.json, named `where` in errors; the caller bounds its
// bytes. INVALID_ARGUMENT if it is no JSON object, or a bound above is exceeded, which is found
// before the parser takes memory. Pure, thread-safe.
absl::Status ParseJson(absl::string_view text, absl::string_view where, Json* json);

// INVALID_ARGUMENT with `where` and `what` as its text, for operators. Pure.
absl::Status PartError(absl::string_view where, absl::string_view what);

// Lives on one thread, and no longer than the JSON. Keeps the first error; getters go on after it.
class Fields {
 public:
  Fields(const Json& json, std::string where);

  // `missing` also replaces null, and with a complaint a value of another kind. A number is whole
  // and not negative.
  bool Flag(const char* key, bool missing);
  std::string Text(const char* key, const std::string& missing);
  int64_t Number(const char* key, int64_t missing, int64_t least, int64_t most);

  // Null if the key is missing or its value null.
  const Json* Find(const char* key);
  // A required key's value; null, with a complaint, if it is missing.
  const Json* Need(const char* key);

  // Reports a fault of the object, unless there was one before.
  void Complain(absl::string_view what);

  // The first error, else one that names an unread key.
  absl::Status Finish();

  const std::string& where() const { return where_; }

 private:
  const Json* json_;  // an object
  const std::string where_;
  std::set<std::string> known_;
  absl::Status status_;
};

}  // namespace mpsd::text
