#include "server/config/json_syntax.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "proto/base/check.h"

namespace mpsd {
namespace {

// Remembers where a text stops being JSON. The parser that builds a document tells this only by
// throwing. Thread-compatible.
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

  // What the parser says, without the place that the parser gives: the caller gives the line.
  std::string What() const {
    for (const absl::string_view lead :
         {"syntax error while parsing ", "number overflow parsing "}) {
      const size_t found = what_.find(std::string(lead));
      if (found == std::string::npos) continue;
      return absl::StrCat("is not JSON: ", absl::string_view(what_).substr(found));
    }
    return absl::StrCat("is not JSON: ", what_);
  }

  size_t LineIn(std::string_view text) const {
    // The position is the one after the last character that was read.
    const size_t end = std::min(text.size(), position_ == 0 ? 0 : position_ - 1);
    return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + end, '\n'));
  }

 private:
  size_t position_ = 0;
  std::string what_;
};

}  // namespace

std::string JsonSyntaxError(std::string_view text) {
  SyntaxErrorFinder finder;
  const bool is_json =
      nlohmann::json::sax_parse(text, &finder, nlohmann::json::input_format_t::json,
                                /*strict=*/true, /*ignore_comments=*/true);
  MPSD_CHECK(!is_json);
  return absl::StrCat(finder.LineIn(text), ": ", finder.What());
}

}  // namespace mpsd
