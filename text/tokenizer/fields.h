// Fields: reads one JSON object, and reports every key that nobody read.
//
//   Fields fields(json, "normalizer");
//   options.lowercase = fields.Flag("lowercase", true);
//   if (const absl::Status status = fields.Finish(); !status.ok()) return status;
//
// An unknown key might change every id. A key whose value does not matter is read with Find().
// Values are valid only once Finish() was OK: after a fault getters return `missing`, and Need()
// null.
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
// Each takes some hundred bytes. The largest known settings, Gemma's, have some 50,000.
inline constexpr size_t kMaxJsonValues = 1 << 17;

// Errors name the file `where`; the caller bounds its bytes. INVALID_ARGUMENT for no JSON object,
// or beyond a bound above, before the parser takes memory. Pure, thread-safe.
absl::Status ParseJson(absl::string_view text, absl::string_view where, Json* json);

// INVALID_ARGUMENT with `where` and `what`, for operators. Pure.
absl::Status PartError(absl::string_view where, absl::string_view what);

// Lives on one thread, and no longer than the JSON. Keeps the first error and goes on.
class Fields {
 public:
  Fields(const Json& json, std::string where);

  // `missing` also replaces null, and with a complaint another kind of value. Numbers are whole and
  // not negative.
  bool Flag(const char* key, bool missing);
  std::string Text(const char* key, const std::string& missing);
  int64_t Number(const char* key, int64_t missing, int64_t least, int64_t most);

  // Null if the key is missing, or its value null.
  const Json* Find(const char* key);
  // Null, with a complaint, if the key is missing.
  const Json* Need(const char* key);

  // Unless there was a fault before.
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
