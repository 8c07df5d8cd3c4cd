#include "server/control/repository_methods.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "proto/base/limits.h"
#include "proto/base/utf8.h"
#include "proto/inference.pb.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

namespace pb = inference;
using Done = ModelControl::Done;

constexpr int kMaxErrno = 133;  // on Linux; other systems have fewer

bool LooksLikePath(const std::string& name) {
  const absl::string_view word = absl::StripAsciiWhitespace(name);
  return word == "." || word == ".." ||
         name.find_first_of(std::string("/\\\0", 3)) != std::string::npos;
}

absl::Status CheckNames(const std::string& repository, const std::string& model) {
  if (!repository.empty()) {
    return absl::UnimplementedError("'repository_name' specification is not supported");
  }
  if (absl::StripAsciiWhitespace(model).empty()) {
    return absl::InvalidArgumentError(
        "Model name cannot be empty. Please enter a valid name to deploy.");
  }
  if (model.size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("Model name must not be longer than ", kMaxNameBytes, " bytes"));
  }
  return absl::OkStatus();
}

// No client's text becomes part of a path, but Triton refuses such a name with this text. An unload
// finds no model of such a name.
absl::Status CheckLoadNames(const std::string& repository, const std::string& model) {
  absl::Status status = CheckNames(repository, model);
  if (!status.ok() || !LooksLikePath(model)) return status;
  return absl::InvalidArgumentError("model name must not contain path traversal characters");
}

using Parameters = google::protobuf::Map<std::string, pb::ModelRepositoryParameter>;

absl::Status ReadLoadParameters(const Parameters& parameters, std::string* config) {
  for (const auto& [name, value] : parameters) {
    if (absl::StartsWith(name, "file:")) {
      return absl::InvalidArgumentError(
          "models come from configured places only: the parameter 'file:' is not supported");
    }
    if (name != "config") {
      return absl::InvalidArgumentError(absl::StrCat("unrecognized load parameter '", name, "'"));
    }
    if (value.parameter_choice_case() != pb::ModelRepositoryParameter::kStringParam) {
      return absl::InvalidArgumentError(
          "invalid value type for load parameter 'config', expected string_param.");
    }
    if (value.string_param().empty()) {
      return absl::InvalidArgumentError(
          "load parameter 'config' is empty, which is no JSON of a model configuration");
    }
    *config = value.string_param();
  }
  return absl::OkStatus();
}

// No model depends on another: the value makes no difference.
absl::Status CheckUnloadParameters(const Parameters& parameters) {
  for (const auto& [name, value] : parameters) {
    if (name != "unload_dependents") {
      return absl::InvalidArgumentError(absl::StrCat("unrecognized unload parameter '", name, "'"));
    }
    if (value.parameter_choice_case() != pb::ModelRepositoryParameter::kBoolParam) {
      return absl::InvalidArgumentError(
          "invalid value type for 'unload_dependents' parameter, expected bool_param.");
    }
  }
  return absl::OkStatus();
}

absl::Status Index(const ModelControl& control, const pb::RepositoryIndexRequest& request,
                   pb::RepositoryIndexResponse* response) {
  if (!request.repository_name().empty()) {
    return absl::UnimplementedError("'repository_name' specification is not supported");
  }
  for (const ModelListing& listing : control.List()) {
    if (request.ready() && listing.state != "READY") continue;
    pb::RepositoryIndexResponse::ModelIndex* index = response->add_models();
    index->set_name(listing.name);
    index->set_version(listing.version);
    index->set_state(listing.state);
    index->set_reason(WithoutBadBytes(WithoutPathsAndErrnos(listing.reason)));
  }
  return absl::OkStatus();
}

Done ForClient(Done done) {
  return [done = std::move(done)](const absl::Status& status) {
    done(WithText(status, WithoutPathsAndErrnos(status.message())));
  };
}

constexpr absl::string_view kCutOut = "(…)";
constexpr size_t kMaxTextBytes = 4096;  // a text may repeat a client's words

// Size of the quoted text at `begin`, with its quotes; 0 if there is none. An apostrophe inside a
// word is no quote.
size_t QuotedBytes(absl::string_view text, size_t begin) {
  const char quote = text[begin];
  const bool is_quote = quote == '\'' || quote == '"';
  if (!is_quote || (begin > 0 && absl::ascii_isalnum(text[begin - 1]))) return 0;
  for (size_t end = begin + 1; end < text.size(); ++end) {
    if (text[end] != quote) continue;
    if (end + 1 == text.size() || !absl::ascii_isalnum(text[end + 1])) return end + 1 - begin;
  }
  return 0;
}

std::string WithoutQuotedPaths(absl::string_view text) {
  std::string rest;
  for (size_t i = 0; i < text.size();) {
    const absl::string_view piece = text.substr(i, std::max<size_t>(QuotedBytes(text, i), 1));
    const bool is_path = piece.size() > 1 && absl::StrContains(piece, '/');
    absl::StrAppend(&rest, is_path ? kCutOut : piece);
    i += piece.size();
  }
  return rest;
}

std::string WithoutPaths(absl::string_view text) {
  std::vector<std::string> words = absl::StrSplit(WithoutQuotedPaths(text), ' ');
  for (std::string& word : words) {
    const bool is_division = word == "/";
    if (!is_division && absl::StrContains(word, '/')) word = std::string(kCutOut);
  }
  return absl::StrJoin(words, " ");
}

// Each system error's text with its replacement.
std::vector<std::pair<std::string, std::string>> SystemWords() {
  std::vector<std::pair<std::string, std::string>> words;
  for (int error = 1; error <= kMaxErrno; ++error) {
    words.emplace_back(std::generic_category().message(error), kCutOut);
    words.emplace_back(absl::StrCat("errno ", error), kCutOut);
  }
  return words;
}

}  // namespace

std::string WithoutPathsAndErrnos(absl::string_view text) {
  static const auto* const kSystemWords = new auto(SystemWords());
  return absl::StrReplaceAll(WithoutPaths(CutAtCharacter(text, kMaxTextBytes)), *kSystemWords);
}

void AddRepositoryMethods(ModelControl* control, MethodTable* table) {
  table->AddTyped<pb::RepositoryIndexRequest, pb::RepositoryIndexResponse>(
      InferenceMethodName("RepositoryIndex"), MethodTable::Kind::kUnary,
      [control](const CallerInfo&, const auto& request, auto* response) {
        return Index(*control, request, response);
      });
  table->AddTypedDeferred<pb::RepositoryModelLoadRequest>(
      InferenceMethodName("RepositoryModelLoad"),
      [control](const CallerInfo&, const auto& request, Done done) {
        std::string config;
        absl::Status status = CheckLoadNames(request.repository_name(), request.model_name());
        if (status.ok()) status = ReadLoadParameters(request.parameters(), &config);
        if (!status.ok()) return done(status);
        control->Load(request.model_name(), config, ForClient(std::move(done)));
      });
  table->AddTypedDeferred<pb::RepositoryModelUnloadRequest>(
      InferenceMethodName("RepositoryModelUnload"),
      [control](const CallerInfo&, const auto& request, Done done) {
        absl::Status status = CheckNames(request.repository_name(), request.model_name());
        if (status.ok()) status = CheckUnloadParameters(request.parameters());
        if (!status.ok()) return done(status);
        control->Unload(request.model_name(), ForClient(std::move(done)));
      });
}

}  // namespace mpsd
