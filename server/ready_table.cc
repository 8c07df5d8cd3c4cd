#include "server/ready_table.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/base/colour.h"
#include "server/bodies/text_routes/text_model.h"

namespace mpsd {
namespace {

constexpr const char* kDefaultAddress = "127.0.0.1:8001";  // default of the command line's verbs

// An address that a client on this host can connect to.
std::string Reachable(const std::string& address) {
  if (absl::StartsWith(address, "0.0.0.0:")) return absl::StrCat("127.0.0.1", address.substr(7));
  if (absl::StartsWith(address, "[::]:")) return absl::StrCat("[::1]", address.substr(4));
  return address;
}

constexpr size_t kStateWidth = 9;

std::string StateCell(const std::string& state, Colour colour, bool colours) {
  return absl::StrCat(Coloured(state, colour, colours),
                      std::string(kStateWidth - state.size(), ' '));
}

std::string Row(const ServedModel& model, const std::vector<WorkerInfo>& workers, size_t width,
                bool colours) {
  const WorkerInfo first = workers.empty() ? WorkerInfo{} : workers.front();
  const std::string device = DevicesOf(workers);
  std::string what = "waits for its worker";
  if (!first.last_words.empty()) what = first.last_words;
  if (model.members != nullptr) {
    what = std::string(model.members->Check(MemberNeed::kReady).message());
  }
  if (model.loaded && model.IsReady()) what = SpecText(model.spec);
  const std::string state = model.IsReady() ? StateCell("ready", Colour::kGreen, colours)
                                            : StateCell("NOT READY", Colour::kRed, colours);
  return absl::StrFormat("  %-*s  %s  %-6s  %-7s  %s\n", static_cast<int>(width), model.name, state,
                         device.empty() ? "-" : device,
                         absl::StrCat(workers.size(), "x", first.lanes), what);
}

std::string Row(const RefusedModel& model, size_t width, bool colours) {
  return absl::StrFormat(
      "  %-*s  %s  %-6s  %-7s  %s\n", static_cast<int>(width), model.name,
      StateCell(model.is_fetched ? "NOT READY" : "REFUSED", Colour::kRed, colours), "-", "-",
      model.reason);
}

std::string ShellWord(const std::string& word) {
  const auto is_plain = [](char c) {
    return absl::ascii_isalnum(c) || strchr("_-.:=/~", c) != nullptr;
  };
  const bool is_home = absl::StartsWith(word, "~");
  if (!is_home && std::all_of(word.begin(), word.end(), is_plain)) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

// Empty if the command line cannot invent them.
std::string ExampleInputs(const ServedModel& model) {
  if (model.texts.ok()) return " --text 'How far is it to the sea?'";
  std::string text;
  for (const TensorSpec& input : model.spec.inputs) {
    if (input.datatype == DataType::kBytes) return "";
    absl::StrAppend(&text, " --input ", ShellWord(absl::StrCat(input.name, "=random")));
  }
  return text;
}

// For the first model that makes vectors of texts; empty without one.
std::string EmbeddingExample(const std::string& request, const ModelDirectory& models) {
  for (const TextModel& model : AllTextModels(models)) {
    const bool takes_texts = model.served->IsReady() && model.served->texts.ok();
    if (!takes_texts || model.task != ModelTask::kEmbedding) continue;
    const std::string body =
        absl::StrCat(R"({"model":")", model.name(), R"(","input":"How far is it to the sea?"})");
    return absl::StrCat("  curl -s ", request, "/v1/embeddings -d ", ShellWord(body), "\n");
  }
  return "";
}

// For vectors of a text, if a model makes them. Empty without a suitable address.
std::string HttpExample(const ReadyTableFacts& facts, const ModelDirectory& models) {
  for (size_t i = 0; i < facts.plain_http_count; ++i) {
    const std::string& address = facts.http[i];
    if (absl::StartsWith(address, "unix:")) continue;
    const std::string header = facts.tokens ? "-H \"Authorization: Bearer $(cat FILE)\" " : "";
    const std::string request = absl::StrCat(header, "http://", Reachable(address));
    const std::string embedding = EmbeddingExample(request, models);
    return embedding.empty() ? absl::StrCat("  curl ", request, "/metrics\n") : embedding;
  }
  return "";
}

std::string Examples(const ReadyTableFacts& facts, const ModelDirectory& models) {
  const std::string options = ClientOptions(facts);
  const std::string program = ShellWord(facts.program);
  const std::string http = HttpExample(facts, models);
  size_t left = kMostExamples - (http.empty() ? 1 : 2);
  std::string text = "\nTry:\n";
  for (const auto& model : models.models()) {
    const std::string inputs = model->IsReady() ? ExampleInputs(*model) : "";
    if (inputs.empty() || left == 0) continue;
    --left;
    absl::StrAppend(&text, "  ", program, " infer ", model->name, inputs, options, "\n");
  }
  return absl::StrCat(text, http, "  ", program, " ps", options, "\n");
}

}  // namespace

std::string ClientOptions(const ReadyTableFacts& facts) {
  const std::string token = facts.tokens ? " --token-file FILE" : "";
  if (facts.grpc.empty()) return token;
  const auto plain_end = facts.grpc.begin() + static_cast<ptrdiff_t>(facts.plain_count);
  std::string best = Reachable(facts.grpc.front());
  for (auto address = facts.grpc.begin(); address != plain_end; ++address) {
    if (Reachable(*address) == kDefaultAddress) best = kDefaultAddress;
  }
  const bool is_tls = facts.plain_count == 0;
  if (best == kDefaultAddress && !is_tls) return token;
  return absl::StrCat(" --server ", ShellWord(best), is_tls ? " --tls" : "", token);
}

std::string ReadyTable(const ReadyTableFacts& facts, const ModelDirectory& models,
                       const WorkerStatusSource& workers) {
  std::string text = absl::StrCat("\nmpsd ", MPSD_VERSION, " takes gRPC calls on ",
                                  absl::StrJoin(facts.grpc, ", "));
  if (!facts.http.empty()) absl::StrAppend(&text, ", http on ", absl::StrJoin(facts.http, ", "));
  size_t width = 5;
  for (const auto& model : models.models()) width = std::max(width, model->name.size());
  const std::vector<RefusedModel> refused = models.refused();
  for (const RefusedModel& model : refused) width = std::max(width, model.name.size());
  absl::StrAppendFormat(&text, "\n\n  %-*s  %-9s  %-6s  %-7s  %s\n", static_cast<int>(width),
                        "MODEL", "STATE", "DEVICE", "WORKERS", "INPUTS -> OUTPUTS");
  for (const auto& model : models.models()) {
    absl::StrAppend(&text, Row(*model, workers.Workers(*model), width, facts.colours));
  }
  for (const RefusedModel& model : refused)
    absl::StrAppend(&text, Row(model, width, facts.colours));
  return absl::StrCat(text, Examples(facts, models));
}

}  // namespace mpsd
