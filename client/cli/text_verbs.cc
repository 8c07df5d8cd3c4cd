#include "client/cli/text_verbs.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "client/cli/text_report.h"
#include "client/format/text_input.h"
#include "client/web/http_client.h"
#include "client/web/rest_client.h"
#include "client/web/text_bodies.h"
#include "proto/files/whole_file.h"

namespace mpsd::cli {
namespace {

using client::HttpClient;
using client::ListedModel;
using client::TextModel;

constexpr size_t kRequestBytes = 1 << 20;                       // a server takes 4 MiB by default
constexpr absl::Duration kLookEvery = absl::Milliseconds(200);  // looks whether a model still loads
constexpr size_t kTokenizeBytes = 8 << 10;  // 64 KiB of JSON, where a byte may take six

// One verb's question to the server.
struct Question {
  std::string task;  // the model's; empty: any
  std::string target;
  size_t shared_bytes = 0;  // sent with each text
  size_t most_bytes = kRequestBytes;
  // Make a body for some of the texts, and keep its answer.
  std::function<std::string(const std::string& model, absl::Span<const std::string> texts)> ask;
  std::function<absl::Status(const std::string& body, size_t text_count)> keep;
};

// Errors name the candidates.
absl::StatusOr<std::string> OnlyModel(const std::vector<TextModel>& models,
                                      const std::string& task) {
  std::vector<std::string> names;
  for (const TextModel& model : models) {
    if (task.empty() || model.task == task) names.push_back(model.name);
  }
  if (names.size() == 1) return names[0];
  const std::string kind = task.empty() ? "that take texts" : absl::StrCat("of the task ", task);
  if (names.empty()) return absl::NotFoundError(absl::StrCat("there are no models ", kind));
  return absl::InvalidArgumentError(
      absl::StrCat("--model must name one of those ", kind, ": ", absl::StrJoin(names, ", ")));
}

absl::Status CheckTextOptions(const TextOptions& options, const Console& console) {
  if (options.texts.empty() && options.file.empty()) {
    return absl::InvalidArgumentError("a text or a file of texts is needed");
  }
  if (options.npy && options.server.json) {
    return absl::InvalidArgumentError("--npy and --json exclude each other");
  }
  if (options.npy && options.output_file.empty() && console.out_is_terminal) {
    return absl::InvalidArgumentError(
        "--npy is not for a terminal: name an --output-file, or redirect it");
  }
  return absl::OkStatus();
}

// The first one with that name, or any if `name` is empty. Empty if there is none.
std::string LoadingModel(const std::vector<ListedModel>& models, const std::string& name) {
  for (const ListedModel& model : models) {
    if (model.state == "LOADING" && (name.empty() || model.name == name)) return model.name;
  }
  return "";
}

// Each step leaves what the next one needs. Lives on one thread.
class TextRun {
 public:
  TextRun(const TextOptions& options, const Console& console)
      : options_(options), console_(console) {}

  // Steps 1 to 5.
  Failure Run(const Question& question);

  // Step 6; returns the exit code.
  int Write(const absl::StatusOr<std::string>& report) const;

  SentTexts& sent() { return sent_; }

 private:
  absl::Time Deadline() const { return absl::Now() + timeout_; }

  Failure Read();
  Failure Connect();
  Failure FindModel(const std::string& task);
  Failure FindOnce(const std::string& task);
  bool AwaitsLoading();
  Failure SendAll(const Question& question);
  absl::Status Send(const Question& question, absl::Span<const std::string> texts);
  void ShowProgress(size_t done_count) const;
  void TellCut() const;

  const TextOptions& options_;
  const Console& console_;
  absl::Duration timeout_;
  absl::Time wait_until_;  // for a loading model
  bool has_told_wait_ = false;
  std::unique_ptr<HttpClient> client_;
  SentTexts sent_;
};

Failure TextRun::Run(const Question& question) {
  Failure failure = Read();
  if (!failure) failure = Connect();
  if (!failure) failure = FindModel(question.task);
  if (!failure) failure = SendAll(question);
  if (!failure) TellCut();
  return failure;
}

Failure TextRun::Read() {
  const absl::StatusOr<absl::Duration> timeout = ParseTimeout(options_.server);
  if (!timeout.ok()) return {kExitUsage, timeout.status()};
  timeout_ = *timeout;
  const absl::StatusOr<absl::Duration> wait = ParseDuration("--wait", options_.wait);
  if (!wait.ok()) return {kExitUsage, wait.status()};
  wait_until_ = absl::Now() + *wait;
  const absl::Status status = CheckTextOptions(options_, console_);
  if (!status.ok()) return {kExitUsage, status};
  auto texts = ReadTexts(options_.texts, options_.file);
  if (!texts.ok()) return {kExitNoInput, texts.status()};
  if (texts->empty()) {
    return {kExitNoInput, absl::InvalidArgumentError(options_.file + ": it has no lines")};
  }
  sent_.texts = *std::move(texts);
  return {};
}

Failure TextRun::Connect() {
  ExitCode code = kExitOk;
  auto client = ConnectHttp(options_.server, Deadline(), &code);
  if (!client.ok()) return {code, client.status()};
  client_ = *std::move(client);
  return {};
}

Failure TextRun::FindModel(const std::string& task) {
  sent_.model = options_.model;
  if (!sent_.model.empty()) return {};
  Failure failure = FindOnce(task);
  while (absl::IsNotFound(failure.status) && AwaitsLoading()) {
    absl::SleepFor(kLookEvery);
    failure = FindOnce(task);
  }
  return failure;
}

// It may take the texts, and there is time to wait.
bool TextRun::AwaitsLoading() {
  if (absl::Now() >= wait_until_) return false;
  const auto reply = client_->Call(client::ListRequest(), std::min(Deadline(), wait_until_));
  if (!reply.ok()) return false;
  const auto models = client::ReadListedModels(reply->body);
  const std::string loading = models.ok() ? LoadingModel(*models, sent_.model) : "";
  if (loading.empty()) return false;
  if (!has_told_wait_) {
    console_.err << "mpsd: waits for model " << loading << ", which loads (--wait " << options_.wait
                 << ")" << std::endl;
  }
  has_told_wait_ = true;
  return true;
}

Failure TextRun::FindOnce(const std::string& task) {
  const auto reply = client_->Call({"GET", "/v1/models"}, Deadline());
  if (!reply.ok()) return {kExitServerError, reply.status()};
  const auto models = client::ReadTextModels(reply->body);
  if (!models.ok()) return {kExitServerError, models.status()};
  absl::StatusOr<std::string> model = OnlyModel(*models, task);
  if (absl::IsInvalidArgument(model.status())) return {kExitUsage, model.status()};
  if (!model.ok()) return {kExitServerError, model.status()};
  sent_.model = *std::move(model);
  console_.err << "mpsd: model " << sent_.model << "\n";
  return {};
}

Failure TextRun::SendAll(const Question& question) {
  const absl::Span<const std::string> texts = sent_.texts;
  for (size_t done_count = 0; done_count < texts.size();) {
    const absl::Span<const std::string> rest = texts.subspan(done_count);
    const size_t row_count = RequestRows(rest, question.shared_bytes, question.most_bytes);
    absl::Status status = Send(question, rest.first(row_count));
    while (absl::IsUnavailable(status) && AwaitsLoading()) {
      absl::SleepFor(kLookEvery);
      status = Send(question, rest.first(row_count));
    }
    if (!status.ok()) {
      ShowProgress(texts.size());
      // The server counts a request's texts from 0.
      const std::string place =
          done_count == 0 ? "" : absl::StrCat("behind the first ", done_count, " texts: ");
      return {kExitServerError, {status.code(), absl::StrCat(place, status.message())}};
    }
    done_count += row_count;
    ShowProgress(done_count);
  }
  return {};
}

absl::Status TextRun::Send(const Question& question, absl::Span<const std::string> texts) {
  const auto reply = client_->Call({"POST",
                                    question.target,
                                    question.ask(sent_.model, texts),
                                    {{"Content-Type", "application/json"}}},
                                   Deadline());
  if (!reply.ok()) return reply.status();
  const auto told = reply->headers.find("x-mpsd-truncated");
  uint64_t cut_count = 0;
  if (told != reply->headers.end() && absl::SimpleAtoi(told->second, &cut_count)) {
    sent_.cut_count += cut_count;
  }
  return question.keep(reply->body, texts.size());
}

// Overwritten; disappears when all texts are done.
void TextRun::ShowProgress(size_t done_count) const {
  if (!console_.err_is_terminal || sent_.texts.size() <= kMostRequestRows) return;
  const std::string line = absl::StrCat(done_count, " of ", sent_.texts.size(), " texts");
  const bool is_over = done_count == sent_.texts.size();
  console_.err << "\r" << (is_over ? std::string(line.size(), ' ') + "\r" : line) << std::flush;
}

void TextRun::TellCut() const {
  if (sent_.cut_count == 0) return;
  console_.err << "mpsd: the server has cut " << sent_.cut_count << " of " << sent_.texts.size()
               << " texts to the most tokens that the model takes\n";
}

int TextRun::Write(const absl::StatusOr<std::string>& report) const {
  if (!report.ok()) return Fail(console_.err, kExitCannotWrite, report.status());
  if (options_.output_file.empty()) return WriteReport(console_.out, console_.err, *report);
  const absl::Status status = WriteWholeFile(options_.output_file, *report);
  return status.ok() ? kExitOk : Fail(console_.err, kExitCannotWrite, status);
}

}  // namespace

int RunEmbed(const EmbedOptions& options, const Console& console) {
  TextRun run(options, console);
  client::Embeddings embeddings;
  Question question;
  question.task = "embedding";
  question.target = "/v1/embeddings";
  question.ask = [&](const std::string& model, absl::Span<const std::string> texts) {
    return client::EmbeddingsBody(model, texts, options.prompt);
  };
  question.keep = [&](const std::string& body, size_t text_count) {
    return client::AddEmbeddings(body, text_count, &embeddings);
  };
  const Failure failure = run.Run(question);
  if (failure) return Fail(console.err, failure.code, failure.status);
  if (options.npy) return run.Write(EmbedNpy(embeddings));
  const bool is_json = options.server.json;
  return run.Write(is_json ? EmbedJson(run.sent(), embeddings) : EmbedText(run.sent(), embeddings));
}

int RunRerank(const RerankOptions& options, const Console& console) {
  TextRun run(options, console);
  client::Ranking ranking;
  run.sent().query = options.query;
  Question question;
  question.task = "rerank";
  question.target = "/v1/rerank";
  question.shared_bytes = options.query.size();
  question.ask = [&](const std::string& model, absl::Span<const std::string> documents) {
    return client::RerankBody(model, options.query, documents);
  };
  question.keep = [&](const std::string& body, size_t text_count) {
    return client::AddScores(body, text_count, &ranking);
  };
  const Failure failure = run.Run(question);
  if (failure) return Fail(console.err, failure.code, failure.status);
  const bool is_json = options.server.json;
  return run.Write(is_json ? RerankJson(run.sent(), ranking, options.top_count)
                           : RerankText(run.sent(), ranking, options.top_count));
}

int RunTokenize(const TextOptions& options, const Console& console) {
  TextRun run(options, console);
  client::Tokens tokens;
  Question question;
  question.target = "/tokenize";
  question.most_bytes = kTokenizeBytes;
  question.ask = client::TokenizeBody;
  question.keep = [&](const std::string& body, size_t text_count) {
    return client::AddTokens(body, text_count, &tokens);
  };
  const Failure failure = run.Run(question);
  if (failure) return Fail(console.err, failure.code, failure.status);
  const bool is_json = options.server.json;
  return run.Write(is_json ? TokenizeJson(run.sent(), tokens) : TokenizeText(run.sent(), tokens));
}

}  // namespace mpsd::cli
