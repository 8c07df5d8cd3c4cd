// JsonObject: strict reading of JSON that people write. Every key is known, and every value has its
// type and bounds. One run reports all mistakes, each with its path.
//
//   constexpr std::array<std::string_view, 2> kKeys = {"name", "max_delay"};
//
//   JsonErrors errors;
//   const JsonObject object(json, "models[0]", kKeys, &errors);
//   object.Require("name");
//   object.Get("name", &model.name);
//   object.GetDuration("max_delay", kNsPerSecond, &model.max_delay_ns);
//   return errors.ToStatus();
//
//   models[0].max_dely: unknown key; did you mean 'max_delay'?
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
  std::string path;  // "models[0].batching.max_delay"; empty: the document
  std::string what;  // "must be a string, not a number"
};

// Keeps the first kMaxErrors in order of discovery, and counts the rest. Thread-compatible.
class JsonErrors {
 public:
  static constexpr size_t kMaxErrors = 20;

  void Add(std::string path, std::string what);

  bool empty() const { return errors_.empty(); }
  const std::vector<JsonError>& errors() const { return errors_; }
  size_t left_out() const { return left_out_; }

  // INVALID_ARGUMENT with one line "path: what" for each error.
  absl::Status ToStatus() const;

 private:
  std::vector<JsonError> errors_;
  size_t left_out_ = 0;
};

// One object of a document, with the keys `keys` alone. The document, the keys and the errors
// outlive it. Thread-compatible.
//
// A getter changes `*value` only if the key is present with the right type and bounds. An absent
// key is no error; other faults are reported. REQUIRES: every requested key is one of `keys`.
class JsonObject {
 public:
  // An object at `key`, and the keys that it may have.
  struct Inner {
    std::string_view key;
    absl::Span<const std::string_view> keys;
  };

  // Reports unknown keys; a key that is nearly one of `inner` is told to belong there. If `json` is
  // no object, reports that and acts as an empty one. `inner` is read here alone.
  JsonObject(const nlohmann::json& json, std::string path, absl::Span<const std::string_view> keys,
             JsonErrors* errors, absl::Span<const Inner> inner = {});

  void Get(std::string_view key, std::string* value) const;
  void Get(std::string_view key, double* value) const;
  void Get(std::string_view key, bool* value) const;
  void Get(std::string_view key, uint64_t minimum, uint64_t maximum, uint32_t* value) const;
  // A duration is "10ms", and not negative.
  void GetDuration(std::string_view key, int64_t maximum_ns, int64_t* value_ns) const;
  // A size is "64MiB".
  void GetBytes(std::string_view key, uint64_t minimum, uint64_t maximum, uint64_t* value) const;
  // Sets `*index` to the index in `choices`.
  void GetChoice(std::string_view key, absl::Span<const std::string_view> choices,
                 size_t* index) const;
  template <typename Enum>
  void GetChoice(std::string_view key, Enum* value) const {
    auto index = static_cast<size_t>(*value);
    GetChoice(key, kNamesOf<Enum>, &index);
    *value = static_cast<Enum>(index);
  }

  // Calls `read` with each element and its path.
  using ReadElement = std::function<void(const nlohmann::json& element, const std::string& path)>;
  void GetList(std::string_view key, size_t maximum, const ReadElement& read) const;

  // Calls `read` with each member and its path, whatever the keys.
  using ReadMember = std::function<void(const std::string& key, const nlohmann::json& value,
                                        const std::string& path)>;
  void GetMembers(std::string_view key, size_t maximum, const ReadMember& read) const;

  // Null when the key is absent.
  const nlohmann::json* Find(std::string_view key) const;

  // Reports a missing key.
  void Require(std::string_view key) const;

  void Fail(std::string_view key, std::string what) const;
  std::string PathOf(std::string_view key) const;
  const std::string& path() const { return path_; }
  JsonErrors* errors() const { return errors_; }

 private:
  bool Knows(std::string_view key) const;
  void ReportUnknown(const std::string& key, absl::Span<const Inner> inner) const;

  const nlohmann::json* json_;  // null: an empty object
  const std::string path_;
  const absl::Span<const std::string_view> keys_;
  JsonErrors* const errors_;
};

// "models[0]" and "name" become "models[0].name". Keys that are no plain words are quoted, so a
// path is one printable line.
std::string JsonPath(const std::string& path, std::string_view key);
std::string JsonPath(const std::string& path, size_t index);

// Short, printable, and quoted if it is text.
std::string JsonText(const nlohmann::json& json);

// "must be WANTED, not a number".
std::string WrongType(std::string_view wanted, const nlohmann::json& json);

// "; did you mean 'x'?" if a word is close, otherwise "; OTHERWISE a, b, c".
std::string DidYouMean(std::string_view text, absl::Span<const std::string_view> words,
                       std::string_view otherwise);

}  // namespace mpsd
