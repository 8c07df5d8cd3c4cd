#include "server/bodies/text_routes/text_request.h"

#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/bodies/json/body_padding.h"
#include "server/bodies/json/json_walk.h"
#include "server/bodies/text_routes/ollama_json.h"
#include "server/request/too_long.h"
#include "server/texts/prompts.h"

namespace mpsd {
namespace {

using JsonType = ondemand::json_type;

absl::Status TypeOf(ondemand::value value, JsonType* type) {
  const auto error = value.type().get(*type);
  return error ? NotJson(error) : absl::OkStatus();
}

// Reads one body. Lives during one call.
class TextReader {
 public:
  TextReader(TextRoute route, size_t most_rows, TextRequest* request)
      : route_(route), most_rows_(most_rows), request_(request) {}

  absl::Status ReadField(absl::string_view key, ondemand::value value) {
    if (IsNull(value)) return absl::OkStatus();
    if (key == "model") return ReadModel(value);
    if (route_ == TextRoute::kRerank) return ReadRerankField(key, value);
    if (key == RowsKey()) {
      if (route_ == TextRoute::kOllamaOne) return ReadOnlyText(value);
      return route_ == TextRoute::kPredict ? ReadPairs(key, value) : ReadRows(key, value);
    }
    if (route_ == TextRoute::kPredict) return ReadScoreField(key, value);
    return ReadVectorField(key, value);
  }

  absl::Status End() {
    if (route_ == TextRoute::kRerank) return EndRerank();
    if (!request_->tokens.empty() && request_->wishes.prompt_name.has_value()) {
      return Unparsable("prompt_name", "rows of tokens have no prompt");
    }
    if (request_->row_count() > 0) return absl::OkStatus();
    return has_rows_ ? Unparsable(RowsKey(), "it is empty") : NoField(RowsKey());
  }

 private:
  absl::string_view RowsKey() const {
    if (route_ == TextRoute::kOllamaOne) return "prompt";
    const bool is_input = route_ == TextRoute::kEmbeddings || route_ == TextRoute::kOllama;
    return is_input ? "input" : "inputs";
  }

  static absl::Status ReadString(ondemand::value value, absl::string_view key, std::string* text) {
    absl::string_view view;
    absl::Status status = ReadText(value, key, &view);
    if (status.ok()) *text = std::string(view);
    return status;
  }

  absl::Status ReadModel(ondemand::value value) {
    absl::Status status = ReadString(value, "model", &request_->model);
    if (IsOllamas(route_)) request_->model = std::string(WithoutOllamaTag(request_->model));
    return status;
  }

  // At least 1.
  static absl::Status ReadCount(ondemand::value value, absl::string_view key,
                                std::optional<size_t>* count) {
    uint64_t number = 0;
    if (absl::Status status = ReadUnsigned(value, key, &number); !status.ok()) return status;
    if (number == 0) return Unparsable(key, "it must be at least 1");
    *count = number;
    return absl::OkStatus();
  }

  absl::Status CheckRoom(absl::string_view key, size_t rows) const {
    if (rows < most_rows_) return absl::OkStatus();
    return TooLong(absl::StrCat("'", key, "' has more than ", most_rows_, " rows"));
  }

  absl::Status ReadOnlyText(ondemand::value value) {
    has_rows_ = true;
    request_->is_list = false;
    request_->texts.clear();
    return ReadString(value, RowsKey(), &request_->texts.emplace_back());
  }

  absl::Status ReadRows(absl::string_view key, ondemand::value value) {
    has_rows_ = true;
    JsonType type = JsonType::null;
    if (absl::Status status = TypeOf(value, &type); !status.ok()) return status;
    if (type == JsonType::string) {
      request_->is_list = false;
      return ReadString(value, key, &request_->texts.emplace_back());
    }
    ondemand::array array;
    if (absl::Status status = ReadArray(value, key, &array); !status.ok()) return status;
    return ForEachElement(array,
                          [this, key](ondemand::value element) { return ReadRow(key, element); });
  }

  // A text, a row of tokens, or a token of the only row.
  absl::Status ReadRow(absl::string_view key, ondemand::value element) {
    JsonType type = JsonType::null;
    if (absl::Status status = TypeOf(element, &type); !status.ok()) return status;
    const bool is_first = request_->row_count() == 0;
    if (!is_first && type != row_type_) return Unparsable(key, "its elements are of several types");
    row_type_ = type;
    if (type == JsonType::number) {
      if (is_first) request_->tokens.emplace_back();
      request_->is_list = false;
      return ReadToken(key, element, &request_->tokens[0]);
    }
    absl::Status status = CheckRoom(key, request_->row_count());
    if (!status.ok()) return status;
    if (type != JsonType::array) return ReadString(element, key, &request_->texts.emplace_back());
    ondemand::array array;
    if (status = ReadArray(element, key, &array); !status.ok()) return status;
    std::vector<int32_t>& row = request_->tokens.emplace_back();
    status = ForEachElement(
        array, [key, &row](ondemand::value token) { return ReadToken(key, token, &row); });
    return status.ok() && row.empty() ? Unparsable(key, "a row of tokens is empty") : status;
  }

  static absl::Status ReadToken(absl::string_view key, ondemand::value value,
                                std::vector<int32_t>* row) {
    uint64_t id = 0;
    if (absl::Status status = ReadUnsigned(value, key, &id); !status.ok()) return status;
    if (id > std::numeric_limits<int32_t>::max()) {
      return Unparsable(key, absl::StrCat("the token id ", id, " is too large"));
    }
    row->push_back(static_cast<int32_t>(id));
    return absl::OkStatus();
  }

  absl::Status ReadVectorField(absl::string_view key, ondemand::value value) {
    if (key == "dimensions") return ReadCount(value, key, &request_->dimensions);
    if (key == "encoding_format" && route_ == TextRoute::kEmbeddings) return ReadFormat(value);
    if (key == "normalize" && route_ == TextRoute::kEmbed) {
      return ReadFlag(value, key, &request_->normalizes);
    }
    if (key != "prompt_name") return ReadCutField(key, value);
    std::string* const name = &request_->wishes.prompt_name.emplace();
    const absl::Status status = ReadString(value, key, name);
    // Each request made from the body has a copy.
    return name->size() <= kMaxPromptNameBytes ? status : Unparsable(key, "it is too long");
  }

  absl::Status ReadFormat(ondemand::value value) {
    absl::string_view format;
    absl::Status status = ReadText(value, "encoding_format", &format);
    if (!status.ok()) return status;
    request_->as_base64 = format == "base64";
    const bool is_known = request_->as_base64 || format == "float";
    return is_known ? status : Unparsable("encoding_format", "it is neither 'float' nor 'base64'");
  }

  absl::Status ReadScoreField(absl::string_view key, ondemand::value value) {
    if (key == "raw_scores") return ReadFlag(value, key, &request_->raw_scores);
    return ReadCutField(key, value);
  }

  absl::Status ReadCutField(absl::string_view key, ondemand::value value) {
    if (key == "truncate") {
      bool cuts = false;
      absl::Status status = ReadFlag(value, key, &cuts);
      request_->wishes.long_input = cuts ? LongInput::kTruncate : LongInput::kError;
      return status;
    }
    if (key != "truncation_direction") return SkipValue(value, 1);
    absl::string_view side;
    if (absl::Status status = ReadText(value, key, &side); !status.ok()) return status;
    const bool is_left = absl::EqualsIgnoreCase(side, "left");
    if (!is_left && !absl::EqualsIgnoreCase(side, "right")) {
      return Unparsable(key, "it is neither 'Left' nor 'Right'");
    }
    request_->wishes.cut_side = is_left ? TextSide::kLeft : TextSide::kRight;
    return absl::OkStatus();
  }

  absl::Status ReadRerankField(absl::string_view key, ondemand::value value) {
    if (key == "query") return ReadString(value, key, &query_.emplace());
    if (key == "top_n") return ReadCount(value, key, &request_->top_count);
    if (key == "return_documents" || key == "return_text") {
      return ReadFlag(value, key, &request_->returns_texts);
    }
    if (key != "documents" && key != "texts") return ReadScoreField(key, value);
    if (has_rows_) return absl::InvalidArgumentError("'documents' and 'texts' are both there");
    has_rows_ = true;
    request_->is_tei = key == "texts";
    ondemand::array array;
    if (absl::Status status = ReadArray(value, key, &array); !status.ok()) return status;
    return ForEachElement(array, [this, key](ondemand::value element) {
      absl::Status status = CheckRoom(key, request_->pairs.size());
      return status.ok() ? ReadDocumentText(key, element) : status;
    });
  }

  // A text, or an object with one and the client's own fields.
  absl::Status ReadDocumentText(absl::string_view key, ondemand::value value) {
    JsonType type = JsonType::null;
    if (absl::Status status = TypeOf(value, &type); !status.ok()) return status;
    std::string* const text = &request_->pairs.emplace_back();
    if (type != JsonType::object) return ReadString(value, key, text);
    ondemand::object object;
    if (absl::Status status = ReadObject(value, key, &object); !status.ok()) return status;
    bool has_text = false;
    const absl::Status status =
        ForEachField(object, [&has_text, text](absl::string_view name, ondemand::value field) {
          if (name != "text") return SkipValue(field, 3);
          has_text = true;
          return ReadString(field, name, text);
        });
    return status.ok() && !has_text ? NoField("text") : status;
  }

  // The query is the first text of every pair.
  absl::Status EndRerank() {
    if (!query_.has_value()) return NoField("query");
    if (!has_rows_) return NoField("documents");
    if (request_->pairs.empty())
      return Unparsable(request_->is_tei ? "texts" : "documents", "it is empty");
    request_->texts.push_back(*std::move(query_));
    return absl::OkStatus();
  }

  absl::Status ReadPairs(absl::string_view key, ondemand::value value) {
    has_rows_ = true;
    JsonType type = JsonType::null;
    if (absl::Status status = TypeOf(value, &type); !status.ok()) return status;
    std::vector<std::vector<std::string>> rows;
    absl::Status status;
    if (type == JsonType::string) {
      status = ReadString(value, key, &rows.emplace_back().emplace_back());
      request_->is_list = false;
    } else {
      status = ReadPairList(key, value, &rows);
    }
    return status.ok() ? TakePairs(key, std::move(rows)) : status;
  }

  // A list of texts is one row; a list of lists has a row in each.
  absl::Status ReadPairList(absl::string_view key, ondemand::value value,
                            std::vector<std::vector<std::string>>* rows) {
    ondemand::array array;
    if (absl::Status status = ReadArray(value, key, &array); !status.ok()) return status;
    return ForEachElement(array, [this, key, rows](ondemand::value element) {
      JsonType type = JsonType::null;
      absl::Status status = TypeOf(element, &type);
      if (!status.ok()) return status;
      const bool is_text = type == JsonType::string;
      if (rows->empty()) {
        request_->is_list = !is_text;
        row_type_ = type;
      }
      if (type != row_type_) return Unparsable(key, "its elements are of several types");
      if (!is_text || rows->empty()) {
        status = CheckRoom(key, rows->size());
        rows->emplace_back();
      }
      if (!status.ok()) return status;
      if (is_text) return ReadString(element, key, &rows->back().emplace_back());
      return ReadPair(key, element, &rows->back());
    });
  }

  static absl::Status ReadPair(absl::string_view key, ondemand::value value,
                               std::vector<std::string>* row) {
    ondemand::array array;
    if (absl::Status status = ReadArray(value, key, &array); !status.ok()) return status;
    return ForEachElement(array, [key, row](ondemand::value text) {
      return ReadString(text, key, &row->emplace_back());
    });
  }

  absl::Status TakePairs(absl::string_view key, std::vector<std::vector<std::string>> rows) {
    for (std::vector<std::string>& row : rows) {
      if (row.empty() || row.size() > 2) return Unparsable(key, "a row is a text or a pair");
      if (row.size() != rows[0].size()) {
        return Unparsable(key, "its rows are single texts and pairs");
      }
    }
    for (std::vector<std::string>& row : rows) {
      if (row.size() == 2) request_->pairs.push_back(std::move(row[1]));
      request_->texts.push_back(std::move(row[0]));
    }
    return absl::OkStatus();
  }

  const TextRoute route_;
  const size_t most_rows_;
  TextRequest* const request_;
  bool has_rows_ = false;
  JsonType row_type_ = JsonType::null;
  std::optional<std::string> query_;
};

}  // namespace

absl::Status ReadTextRequest(TextRoute route, std::string body, size_t most_rows,
                             TextRequest* request) {
  const size_t bytes = body.size();
  body.append(kBodyPadding, '\0');
  TextReader reader(route, most_rows, request);
  const absl::Status status = ReadDocument(body.data(), bytes, body.size(),
                                           [&reader](absl::string_view key, ondemand::value value) {
                                             return reader.ReadField(key, value);
                                           });
  return status.ok() ? reader.End() : status;
}

}  // namespace mpsd
