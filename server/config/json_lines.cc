#include "server/config/json_lines.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "proto/base/check.h"
#include "proto/link/json_object.h"

namespace mpsd {
namespace {

// The parser that builds a document tells the place only by throwing. Thread-compatible.
class SyntaxErrorFinder : public nlohmann::json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    position_ = position;
    what_ = error.what();
    return false;
  }

  // Without the position: the caller gives the line.
  std::string What() const {
    if (absl::EndsWith(what_, "expected end of input")) {
      return "is not JSON: there is more text after its end";
    }
    for (const absl::string_view lead :
         {"syntax error while parsing ", "number overflow parsing "}) {
      const size_t found = what_.find(std::string(lead));
      if (found == std::string::npos) continue;
      return absl::StrCat("is not JSON: ", absl::string_view(what_).substr(found));
    }
    return absl::StrCat("is not JSON: ", what_);
  }

  size_t LineIn(std::string_view text) const {
    // One past the last character read.
    const size_t end = std::min(text.size(), position_ == 0 ? 0 : position_ - 1);
    return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + end, '\n'));
  }

 private:
  size_t position_ = 0;
  std::string what_;
};

}  // namespace

// One pass over strings, comments, brackets and other words. Thread-compatible.
class JsonScanner {
 public:
  JsonScanner(std::string_view text, JsonLines* lines) : text_(text), lines_(*lines) {}

  void Scan() {
    while (at_ < text_.size()) Step();
  }

 private:
  struct Frame {
    std::string path;
    bool is_object = false;
    bool expects_key = false;
    size_t index = 0;
    std::string key;
  };

  void Step() {
    switch (text_[at_]) {
      case '\n':
        ++line_;
        ++at_;
        return;
      case ' ':
      case '\t':
      case '\r':
        ++at_;
        return;
      case '/':
        return SkipComment();
      case '"':
        return TakeString();
      case '{':
      case '[':
        return Open();
      case '}':
      case ']':
        return Close();
      case ',':
      case ':':
        return Separate();
      default:
        return TakeWord();
    }
  }

  void SkipComment() {
    const bool block = at_ + 1 < text_.size() && text_[at_ + 1] == '*';
    const size_t end = block ? text_.find("*/", at_ + 2) : text_.find('\n', at_);
    const size_t stop = end == std::string_view::npos ? text_.size() : end + (block ? 2 : 0);
    for (; at_ < stop; ++at_) {
      if (text_[at_] == '\n') ++line_;
    }
  }

  void TakeString() {
    const size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = at_ < text_.size() ? at_ + 1 : text_.size();
    if (skipped_depth_ > 0) return;
    if (frames_.empty() || !frames_.back().expects_key) {
      NoteValue();
      return;
    }
    NoteKey(text_.substr(begin, at_ - begin));
  }

  void TakeWord() {
    NoteValue();
    const size_t end = text_.find_first_of(" \t\r\n,:]}/\"[{", at_ + 1);
    at_ = end == std::string_view::npos ? text_.size() : end;
  }

  void NoteKey(std::string_view quoted) {
    const nlohmann::json key = nlohmann::json::parse(quoted, nullptr, false);
    if (!key.is_string()) return;
    frames_.back().key = key.get<std::string>();
    std::string path = ValuePath();
    if (!lines_.lines_.emplace(path, line_).second) {
      lines_.repeated_.push_back({std::move(path), line_});
    }
  }

  // A member has its line from its key.
  void NoteValue() {
    if (skipped_depth_ > 0) return;
    if (frames_.empty() || !frames_.back().is_object) lines_.lines_.emplace(ValuePath(), line_);
  }

  void Open() {
    NoteValue();
    if (skipped_depth_ > 0 || frames_.size() == JsonLines::kMaxDepth) {
      ++skipped_depth_;
    } else {
      const bool is_object = text_[at_] == '{';
      frames_.push_back({.path = ValuePath(), .is_object = is_object, .expects_key = is_object});
    }
    ++at_;
  }

  void Close() {
    if (skipped_depth_ > 0) {
      --skipped_depth_;
    } else if (!frames_.empty()) {
      frames_.pop_back();
    }
    ++at_;
  }

  void Separate() {
    if (skipped_depth_ == 0 && !frames_.empty()) {
      Frame& frame = frames_.back();
      frame.expects_key = frame.is_object && text_[at_] == ',';
      if (text_[at_] == ',') ++frame.index;
    }
    ++at_;
  }

  // The current or next value's.
  std::string ValuePath() const {
    if (frames_.empty()) return "";
    const Frame& frame = frames_.back();
    return frame.is_object ? JsonPath(frame.path, frame.key) : JsonPath(frame.path, frame.index);
  }

  const std::string_view text_;
  JsonLines& lines_;
  size_t at_ = 0;
  size_t line_ = 1;
  size_t skipped_depth_ = 0;
  std::vector<Frame> frames_;
};

JsonLines::JsonLines(std::string_view text) { JsonScanner(text, this).Scan(); }

size_t JsonLines::LineOf(std::string_view path) const {
  while (true) {
    const auto found = lines_.find(absl::string_view(path.data(), path.size()));
    if (found != lines_.end()) return found->second;
    if (path.empty()) return 1;
    const size_t cut = path.find_last_of(".[");
    path = path.substr(0, cut == std::string_view::npos ? 0 : cut);
  }
}

std::string JsonSyntaxError(std::string_view text) {
  SyntaxErrorFinder finder;
  const bool is_json =
      nlohmann::json::sax_parse(text, &finder, nlohmann::json::input_format_t::json,
                                /*strict=*/true, /*ignore_comments=*/true);
  MPSD_CHECK(!is_json);
  return absl::StrCat(finder.LineIn(text), ": ", finder.What());
}

}  // namespace mpsd
