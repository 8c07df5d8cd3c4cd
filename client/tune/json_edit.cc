#include "client/tune/json_edit.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace mpsd::tune {
namespace {

using nlohmann::ordered_json;

constexpr size_t kNone = std::string::npos;

struct Span {
  size_t begin = 0;
  size_t end = 0;
};

// The members of an object that matter here.
struct Members {
  std::optional<Span> wanted;
  size_t last_key = kNone;  // kNone: empty object
  size_t last_end = kNone;  // end of its value
};

// Walks over text that a parser has accepted. For other text results mean nothing, but stay within
// it. Thread-compatible.
class Walk {
 public:
  explicit Walk(absl::string_view text) : text_(text) {}

  // Begins at `at` or later.
  Span ValueFrom(size_t at) {
    at_ = at;
    SkipBlanks();
    Span span{at_, at_};
    SkipValue();
    span.end = at_;
    return span;
  }

  // The object begins at `at`.
  Members MembersOf(size_t at, const std::string& key) {
    Members members;
    at_ = at + 1;
    for (SkipBlanks(); Now() == '"'; SkipComma()) {
      const Span name = ValueFrom(at_);
      SkipBlanks();
      const Span value = ValueFrom(at_ + 1);  // after the colon
      members.last_key = name.begin;
      members.last_end = value.end;
      const auto read = ordered_json::parse(text_.begin() + name.begin, text_.begin() + name.end,
                                            nullptr, /*allow_exceptions=*/false);
      if (read == key) members.wanted = value;
    }
    return members;
  }

  // The list begins at `at`.
  std::optional<Span> ElementOf(size_t at, size_t index) {
    at_ = at + 1;
    SkipBlanks();
    for (size_t i = 0; at_ < text_.size() && Now() != ']'; ++i, SkipComma()) {
      const Span value = ValueFrom(at_);
      if (i == index) return value;
    }
    return std::nullopt;
  }

 private:
  char Now() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void SkipTo(absl::string_view end) {
    const size_t found = text_.find(end, at_);
    at_ = found == kNone ? text_.size() : found + end.size();
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (absl::ascii_isspace(Now())) {
        ++at_;
      } else if (absl::StartsWith(text_.substr(at_), "//")) {
        SkipTo("\n");
      } else if (absl::StartsWith(text_.substr(at_), "/*")) {
        SkipTo("*/");
      } else {
        return;
      }
    }
  }

  void SkipComma() {
    SkipBlanks();
    if (Now() == ',') ++at_;
    SkipBlanks();
  }

  void SkipString() {
    for (++at_; at_ < text_.size() && Now() != '"'; ++at_) {
      if (Now() == '\\') ++at_;
    }
    if (at_ < text_.size()) ++at_;
  }

  void SkipValue() {
    size_t depth = 0;
    do {
      const char c = Now();
      if (c == '"') {
        SkipString();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++at_;
      } else if (depth > 0) {
        ++at_;
      } else {
        while (at_ < text_.size() && !absl::ascii_isspace(Now()) &&
               absl::string_view(",]}/").find(Now()) == kNone) {
          ++at_;
        }
      }
      if (depth > 0) SkipBlanks();
    } while (depth > 0 && at_ < text_.size());
  }

  const absl::string_view text_;
  size_t at_ = 0;
};

// Spaced as people write it.
std::string LineOf(const ordered_json& json) {
  if (!json.is_structured()) return json.dump();
  std::vector<std::string> parts;
  for (const auto& item : json.items()) {
    const std::string name =
        json.is_object() ? absl::StrCat(ordered_json(item.key()).dump(), ": ") : "";
    parts.push_back(absl::StrCat(name, LineOf(item.value())));
  }
  const std::string text = absl::StrJoin(parts, ", ");
  return json.is_object() ? absl::StrCat("{", text, "}") : absl::StrCat("[", text, "]");
}

// The member gets a line of its own if the last one has one.
void Insert(const Members& members, size_t object, const std::string& member, std::string* text) {
  if (members.last_key == kNone) {
    text->insert(object + 1, member);
    return;
  }
  const size_t line = text->rfind('\n', members.last_key) + 1;  // 0 on the first line
  const std::string indent = text->substr(line, members.last_key - line);
  const size_t end = text->find('\n', members.last_end);
  const std::string rest =
      end == kNone ? "}" : text->substr(members.last_end, end - members.last_end);
  const absl::string_view behind = absl::StripLeadingAsciiWhitespace(rest);
  const bool own_line = absl::StripAsciiWhitespace(indent).empty() && line > 0;
  if (own_line && (behind.empty() || absl::StartsWith(behind, "//"))) {
    text->insert(end, absl::StrCat("\n", indent, member));
    text->insert(members.last_end, ",");
  } else {
    text->insert(members.last_end, absl::StrCat(", ", member));
  }
}

// Looks for each member anew: an edit moves the text after it.
void Edit(size_t at, const ordered_json& before, const ordered_json& after, std::string* text) {
  const Span span = Walk(*text).ValueFrom(at);
  if (before == after) return;
  if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (size_t i = 0; i < after.size(); ++i) {
      const auto element = Walk(*text).ElementOf(span.begin, i);
      if (element) Edit(element->begin, before[i], after[i], text);
    }
  } else if (before.is_object() && after.is_object()) {
    for (const auto& item : after.items()) {
      const Members members = Walk(*text).MembersOf(span.begin, item.key());
      const auto found = before.find(item.key());
      if (members.wanted && found != before.end()) {
        Edit(members.wanted->begin, *found, item.value(), text);
      } else {
        Insert(members, span.begin,
               absl::StrCat(ordered_json(item.key()).dump(), ": ", LineOf(item.value())), text);
      }
    }
  } else {
    text->replace(span.begin, span.end - span.begin, LineOf(after));
  }
}

ordered_json Parsed(absl::string_view text) {
  return ordered_json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false,
                             /*ignore_comments=*/true);
}

}  // namespace

std::string EditedJson(absl::string_view text, const ordered_json& after) {
  std::string edited(text);
  Edit(0, Parsed(text), after, &edited);
  if (Parsed(edited) == after) return edited;
  return after.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace mpsd::tune
