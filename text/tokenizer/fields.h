// Fields: reads one JSON object, and reports every key that nobody read.
//
//   Fields fields(json, "normalizer");
//   options.lowercase = fields.Flag("lowercase", true);
//   if (const absl::Status status = fields.Finish(); !status.ok()) return status;
//
// An unknown key might change every id. Values are valid only once Finish() was OK: after a fault
// getters return `missing`, and Need() null.
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
// Each value takes some hundred bytes. The largest known settings, Gemma's, have some 50,000.
inline constexpr size_t kMaxJsonValues = 1 << 17;

// The caller bounds the text's bytes. INVALID_ARGUMENT names `where`: no JSON object, or a bound
// above is exceeded, which is found before the parser takes memory. Pure, thread-safe.
absl::Status ParseJson(absl::string_view text, absl::string_view where, Json* json);

// For operators. Pure.
absl::Status PartError(absl::string_view where, absl::string_view what);

// Lives on one thread, and no longer than the JSON. Keeps the first error and goes on.
class Fields {
 public:
  Fields(const Json& json, std::string where);

  // A getter returns `missing` for null too, and, with a complaint, for another kind of value.
  // Numbers are not negative.
  bool Flag(const char* key, bool missing);
  std::string Text(const char* key, const std::string& missing);
  int64_t Number(const char* key, int64_t missing, int64_t least, int64_t most);

  const Json* Find(const char* key);
  // Null, with a complaint, if the key is missing.
  const Json* Need(const char* key);

  void Complain(absl::string_view what);

  // The first error, else one that names an unread key.
  absl::Status Finish();

  const std::string& where() const { return where_; }

 private:
  const Json* json_;
  const std::string where_;
  std::set<std::string> known_;
  absl::Status status_;
};

}  // namespace mpsd::text
