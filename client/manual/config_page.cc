#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/manual/manual_page.h"
#include "client/manual/page_head.h"
#include "client/manual/roff.h"

namespace mpsd::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFiles[] =
    "mpsd.json in the folder of the command, else /etc/mpsd/mpsd.json, unless --config names "
    "another one.";
constexpr char kForm[] =
    "A config is one file of JSON with comments. A relative path starts from the folder of the "
    "file. A duration is a text with a unit, such as 10ms. A size is one, such as 64MiB. An "
    "unknown key, or a value out of bounds, ends the start with the exit code 78. Every mistake is "
    "then told, with its line.\n\nThe daemon reads its config again when it gets the signal HUP.";

std::string Shown(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string AnyOf(const Json& choices) {
  std::vector<std::string> texts;
  for (const Json& choice : choices) texts.push_back(Shown(choice));
  return absl::StrJoin(texts, ", ");
}

std::string TextType(const Json& key) {
  const std::string pattern = key.value("pattern", "");
  if (absl::StrContains(pattern, "KiB")) return "size";
  if (absl::StrContains(pattern, "|ms|")) return "duration";
  return "text";
}

// Each key with its whole name. Lives on one thread.
class KeyList {
 public:
  explicit KeyList(const Json& schema) : schema_(schema) {}

  // The name of `parent` is "" or ends with a dot.
  void Add(const Json& parent, const std::string& prefix) {
    const Json& object = Resolved(parent);
    if (!object.contains("properties")) return;
    for (const auto& [name, value] : object["properties"].items()) {
      AddKey(absl::StrCat(prefix, name), value);
    }
  }

  std::string Text() const { return text_; }

 private:
  const Json& Resolved(const Json& value) const {
    if (!value.is_object() || !value.contains("$ref")) return value;
    return schema_.at(Json::json_pointer(value["$ref"].get<std::string>().substr(1)));
  }

  std::string TypeOf(const Json& given) const {
    const Json& key = Resolved(given);
    if (key.contains("const")) return absl::StrCat("\"", Shown(key["const"]), "\"");
    if (key.contains("enum")) return absl::StrCat("one of ", AnyOf(key["enum"]));
    for (const char* choice : {"anyOf", "oneOf"}) {
      if (!key.contains("type") && key.contains(choice)) return TypeOfAny(key[choice]);
    }
    const std::string type = Shown(key.value("type", Json("any")));
    if (type == "array") return absl::StrCat("list", key.contains("items") ? ItemType(key) : "");
    if (type == "boolean") return "true or false";
    if (type == "integer" || type == "number") return absl::StrCat("number", Bounds(key));
    if (type != "string") return type;
    if (!key.contains("anyOf")) return TextType(key);
    return TypeOfAny(key["anyOf"]);
  }

  std::string TypeOfAny(const Json& choices) const {
    std::vector<std::string> types;
    for (const Json& choice : choices) {
      const bool is_text = choice.is_object() && choice.contains("pattern");
      const std::string type = is_text ? TextType(choice) : TypeOf(choice);
      if (types.empty() || types.back() != type) types.push_back(type);
    }
    return absl::StrJoin(types, ", or ");
  }

  std::string ItemType(const Json& key) const { return absl::StrCat(" of ", TypeOf(key["items"])); }

  static std::string Bounds(const Json& key) {
    if (!key.contains("minimum") || !key.contains("maximum")) return "";
    return absl::StrCat(" from ", Shown(key["minimum"]), " to ", Shown(key["maximum"]));
  }

  void AddKey(const std::string& name, const Json& given) {
    const Json& key = Resolved(given);
    std::string text = given.value("description", key.value("description", ""));
    absl::StrAppend(&text, text.empty() ? "" : " ", "Type: ", TypeOf(given), ".");
    if (key.contains("default")) {
      const std::string value = key["default"] == "" ? "\"\"" : Shown(key["default"]);
      absl::StrAppend(&text, " Default: ", value, ".");
    }
    text_ += RoffItem(RoffBold(name), text);
    Add(key, name + ".");
    if (key.contains("items")) Add(key["items"], name + "[].");
  }

  const Json& schema_;
  std::string text_;
};

}  // namespace

std::string ConfigPage(absl::string_view schema_text, const PageFacts& facts) {
  const Json schema = Json::parse(schema_text);
  KeyList keys(schema);
  keys.Add(schema, "");
  return absl::StrCat(PageHead("mpsd.json", 5, "the config of mpsd", facts),
                      RoffSection("DESCRIPTION"), RoffText(kForm), "\n", RoffSection("KEYS"),
                      keys.Text(), RoffSection("FILES"), RoffText(kFiles), "\n",
                      RoffSection("SEE ALSO"), RoffBold("mpsd"), "(1),\n", RoffBold("mpsd-check"),
                      "(1)\n");
}

}  // namespace mpsd::cli
