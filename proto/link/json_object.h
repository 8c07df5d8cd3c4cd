// Strict reading of JSON that people write: every key is known, every value has its type and
// bounds, and a mistake is reported with the path of the value at fault instead of ending the
// reading.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "nlohmann/json.hpp"
#include "proto/link/enum_names.h"

namespace mpsd {

struct JsonError {
  std::string path;  // "models[0].batching.max_delay"; empty for the whole document
  std::string what;  // "must be a string, not a number"
};

// What is wrong with a document, in the order it was found. Thread-compatible. Keeps kMaxErrors and
// counts the rest.
class JsonErrors {
 public:
  static constexpr size_t kMaxErrors = 20;

  void Add(std::string path, std::string what);

  bool empty() const { return errors_.empty(); }
  const std::vector<JsonError>& errors() const { return errors_; }
  size_t left_out() const { return left_out_; }

  // INVALID_ARGUMENT with one line an error, "path: what"; OK when there is none.
  absl::Status ToStatus() const;

 private:
  std::vector<JsonError> errors_;
  size_t left_out_ = 0;
};

// One object of a document, whose keys may be `keys` and nothing else. Thread-compatible; the
// document, the keys and the errors outlive it.
//
// Every getter leaves `*value` as it is, reporting an error where there is reason to, when the key
// is absent (which is no error) or its value is not of the type and within the bounds it asks for.
// REQUIRES: every key that is asked for is one of `keys`.
class JsonObject {
 public:
  // Reports the unknown keys, or that `json` is no object; in that case it reads as an empty one.
  JsonObject(const nlohmann::json& json, std::string path, absl::Span<const std::string_view> keys,
             JsonErrors* errors);

  void Get(std::string_view key, std::string* value) const;
  void Get(std::string_view key, double* value) const;
  void Get(std::string_view key, bool* value) const;
  void Get(std::string_view key, uint64_t minimum, uint64_t maximum, uint32_t* value) const;
  // "10ms"; not negative.
  void GetDuration(std::string_view key, int64_t maximum_ns, int64_t* value_ns) const;
  // "64MiB"
  void GetBytes(std::string_view key, uint64_t minimum, uint64_t maximum, uint64_t* value) const;
  // One of `choices`; `*index` is which.
  void GetChoice(std::string_view key, absl::Span<const std::string_view> choices,
                 size_t* index) const;
  // The name of one of the values of `Enum`.
  template <typename Enum>
  void GetChoice(std::string_view key, Enum* value) const {
    auto index = static_cast<size_t>(*value);
    GetChoice(key, kNamesOf<Enum>, &index);
    *value = static_cast<Enum>(index);
  }

  // Calls `read` with each element of a list of at most `maximum`, and with the element's path.
  using ReadElement = std::function<void(const nlohmann::json& element, const std::string& path)>;
  void GetList(std::string_view key, size_t maximum, const ReadElement& read) const;

  // The value; null when the key is absent.
  const nlohmann::json* Find(std::string_view key) const;

  // Reports that the key is missing, if it is.
  void Require(std::string_view key) const;

  void Fail(std::string_view key, std::string what) const;
  std::string PathOf(std::string_view key) const;
  const std::string& path() const { return path_; }
  JsonErrors* errors() const { return errors_; }

 private:
  bool Knows(std::string_view key) const;
  void ReportUnknown(const std::string& key) const;

  const nlohmann::json* json_;  // null: read as an empty object
  const std::string path_;
  const absl::Span<const std::string_view> keys_;
  JsonErrors* const errors_;
};

// "models[0]" and "name" give "models[0].name". A key that is not a plain word is quoted, so that a
// path is always one printable line.
std::string JsonPath(const std::string& path, std::string_view key);
std::string JsonPath(const std::string& path, size_t index);

// The value as an error may show it: short, printable, quoted if it is text.
std::string JsonText(const nlohmann::json& json);

// "must be WANTED, not a number".
std::string WrongType(std::string_view wanted, const nlohmann::json& json);

// "; did you mean 'x'?" for the word that is near `text`, else "; OTHERWISE a, b, c".
std::string DidYouMean(std::string_view text, absl::Span<const std::string_view> words,
                       std::string_view otherwise);

}  // namespace mpsd
