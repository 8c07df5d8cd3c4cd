#include "server/bodies/text_routes/tokenize.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/bodies/json/body_padding.h"
#include "server/bodies/json/json_text.h"
#include "server/bodies/json/json_walk.h"
#include "server/request/retry_info.h"
#include "server/request/too_long.h"
#include "server/texts/text_encoder.h"

namespace mpsd {
namespace {

absl::Status ReadInput(ondemand::value value, std::vector<std::string>* texts) {
  absl::string_view text;
  absl::Status status = ReadText(value, "inputs", &text);
  if (status.ok()) texts->emplace_back(text);
  return status;
}

absl::Status ReadInputs(ondemand::value value, size_t most_rows, std::vector<std::string>* texts) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type); error) return NotJson(error);
  if (type == ondemand::json_type::string) return ReadInput(value, texts);
  ondemand::array array;
  if (absl::Status status = ReadArray(value, "inputs", &array); !status.ok()) return status;
  return ForEachElement(array, [most_rows, texts](ondemand::value element) {
    if (texts->size() < most_rows) return ReadInput(element, texts);
    return TooLong(absl::StrCat("'inputs' has more than ", most_rows, " rows"));
  });
}

absl::Status ReadField(absl::string_view key, ondemand::value value, size_t most_rows,
                       TokenizeRequest* request) {
  if (IsNull(value)) return absl::OkStatus();
  if (key == "inputs") return ReadInputs(value, most_rows, &request->texts);
  if (key == "add_special_tokens") return ReadFlag(value, key, &request->adds_special);
  if (key != "model" && key != "prompt_name") return SkipValue(value, 1);
  absl::string_view name;
  absl::Status status = ReadText(value, key, &name);
  (key == "model" ? request->model : request->prompt_name.emplace()) = std::string(name);
  return status;
}

struct SpecialCounts {
  size_t before = 0;
  size_t after = 0;
};

SpecialCounts CountsOf(const text::Frame& frame) {
  SpecialCounts counts;
  bool is_behind = false;
  for (const text::FramePart& part : frame.single) {
    if (part.kind != text::FramePart::Kind::kId) {
      is_behind = true;
    } else {
      ++(is_behind ? counts.after : counts.before);
    }
  }
  return counts;
}

// `pieces` are the texts of `ids`.
void PutTokens(const std::vector<int32_t>& ids, absl::Span<const std::string> pieces,
               const SpecialCounts& special, std::string* json) {
  json->push_back('[');
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool is_special = i < special.before || i >= ids.size() - special.after;
    absl::StrAppend(json, i > 0 ? "," : "", R"({"id":)", ids[i], R"(,"piece":)");
    PutJsonText(pieces[i], json);
    absl::StrAppend(json, R"(,"text":null,"special":)", is_special ? "true" : "false",
                    R"(,"start":null,"stop":null})");
  }
  json->push_back(']');
}

absl::StatusOr<std::vector<text::Encoding>> TokenizeAll(const TokenizeRequest& request,
                                                        const TextEncoder& encoder) {
  const absl::StatusOr<absl::string_view> prompt = encoder.prompts().Find(request.prompt_name);
  if (!prompt.ok()) return prompt.status();
  size_t bytes = request.texts.size() * prompt->size();
  for (const std::string& text : request.texts) bytes += text.size();
  if (bytes > kMaxTokenizeBytes) {
    return TooLong(absl::StrCat("'inputs' have ", bytes, " bytes behind their prompts; at most ",
                                kMaxTokenizeBytes, " are tokenized"));
  }
  std::vector<text::Encoding> rows;
  for (size_t i = 0; i < request.texts.size(); ++i) {
    absl::StatusOr<text::Encoding> row =
        encoder.Tokenize(absl::StrCat(*prompt, request.texts[i]), request.adds_special);
    if (!row.ok()) {
      return WithText(row.status(), absl::StrCat("text ", i, ": ", row.status().message()));
    }
    rows.push_back(*std::move(row));
  }
  return rows;
}

}  // namespace

absl::Status ReadTokenizeRequest(std::string body, size_t most_rows, TokenizeRequest* request) {
  const size_t bytes = body.size();
  body.append(kBodyPadding, '\0');
  const absl::Status status =
      ReadDocument(body.data(), bytes, body.size(),
                   [most_rows, request](absl::string_view key, ondemand::value value) {
                     return ReadField(key, value, most_rows, request);
                   });
  if (!status.ok()) return status;
  return request->texts.empty() ? NoField("inputs") : status;
}

absl::StatusOr<std::string> TokensJson(const TokenizeRequest& request, const TextModel& model) {
  const auto& encoder = model.served->texts;
  if (absl::IsUnimplemented(encoder.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", model.name(), "' takes tokens alone"));
  }
  if (!encoder.ok()) {
    return absl::UnavailableError(absl::StrCat("model '", model.name(),
                                               "' takes no texts: its tokenizer cannot be used; "
                                               "the server's log says why"));
  }
  absl::StatusOr<std::vector<text::Encoding>> rows = TokenizeAll(request, **encoder);
  if (!rows.ok()) return rows.status();
  std::vector<int32_t> ids;
  for (const text::Encoding& row : *rows) ids.insert(ids.end(), row.ids.begin(), row.ids.end());
  const std::vector<std::string> pieces = (*encoder)->TokensOf(ids);
  absl::Span<const std::string> rest = pieces;
  SpecialCounts special;
  if (request.adds_special) special = CountsOf((*encoder)->frame());
  std::string json = "[";
  for (const text::Encoding& row : *rows) {
    if (json.size() > 1) json.push_back(',');
    PutTokens(row.ids, rest.first(row.ids.size()), special, &json);
    rest.remove_prefix(row.ids.size());
  }
  json.push_back(']');
  return json;
}

}  // namespace mpsd
