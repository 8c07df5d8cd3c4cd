// Fields: reads one JSON object, and complains of every key that nobody asked for.
//
//   Fields fields(json, "normalizer");
//   options.lowercase = fields.Flag("lowercase", true);
//   if (const absl::Status status = fields.Finish(); !status.ok()) return status;
//
// A key that is not known might change every id, so a tokenizer.json that has one is refused. Each
// getter makes its key a known one, also where the file does not have it: a key whose value does
// not matter is asked for by Find() and forgotten.
//
// The values mean nothing before Finish() was OK: a getter that found a fault returns what is
// missing's value, and Need() null.
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

// Parses the text of a file that lies beside a tokenizer.json, which `where` names in errors; the
// caller bounds its bytes. INVALID_ARGUMENT: no JSON object, or a bound above is passed, which is
// found before the parser takes memory. Pure, thread-safe.
absl::Status ParseJson(absl::string_view text, absl::string_view where, Json* json);

// INVALID_ARGUMENT, "WHERE: WHAT": the part of the file that is wrong, for operators. Pure.
absl::Status PartError(absl::string_view where, absl::string_view what);

// Lives on one thread, and no longer than the JSON. The first error stays; getters go on after it.
class Fields {
 public:
  Fields(const Json& json, std::string where);

  // `missing` also for null, and with a complaint for a value of another kind. A number is a whole
  // one that is not negative.
  bool Flag(const char* key, bool missing);
  std::string Text(const char* key, const std::string& missing);
  int64_t Number(const char* key, int64_t missing, int64_t least, int64_t most);

  // Null where the key is missing or its value null.
  const Json* Find(const char* key);
  // The value of a key that must be there; null, with a complaint, where it is not.
  const Json* Need(const char* key);

  // Says what is wrong with the object, unless something was before.
  void Complain(absl::string_view what);

  // The first error, else one that names a key that nobody asked for.
  absl::Status Finish();

  const std::string& where() const { return where_; }

 private:
  const Json* json_;  // an object
  const std::string where_;
  std::set<std::string> known_;
  absl::Status status_;
};

}  // namespace mpsd::text
