// mpsd: the daemon, and verbs that need no running daemon; the client has the others.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/exit_code.h"
#include "client/cli/hub_verbs.h"
#include "client/cli/verbs.h"
#include "client/manual/command_table.h"
#include "proto/base/colour.h"
#include "proto/base/limits.h"
#include "server/build_info.h"
#include "server/config/command_line_config.h"
#include "server/config/config.h"
#include "server/config/config_values.h"
#include "server/config/schema_file.h"
#include "server/daemon.h"
#include "server/operate/doctor/doctor_verb.h"
#include "server/operate/handover/handover.h"
#include "server/operate/logs_verb.h"
#include "server/operate/token_verb.h"
#include "server/operate/upgrade_verb.h"
#include "server/signals.h"
#include "server/texts/tokenizer_facts.h"
#include "server/thread_room.h"

#if __has_include(<google/protobuf/stubs/logging.h>)
#include <google/protobuf/stubs/logging.h>
#endif

namespace mpsd {
namespace {

struct ServeFlags {
  std::string config;
  std::vector<std::string> model_files;
  std::string model_repository;
  bool explicit_control = false;
  std::vector<std::string> inputs;
  ModelFlags model;  // without its inputs
  ListenFlags listen;
  bool has_served = false;

  bool reads_config() const { return model_files.empty() && model_repository.empty(); }
};

// A config's mistakes are one line each.
int Complain(const absl::Status& status, int exit_code) {
  for (const absl::string_view line : absl::StrSplit(status.message(), '\n')) {
    std::fprintf(stderr, "mpsd: %s\n", std::string(line).c_str());
  }
  return exit_code;
}

absl::StatusOr<Config> ConfigWithoutFile(const ServeFlags& flags) {
  if (!flags.model_repository.empty()) {
    return ConfigFromRepository(flags.model_repository, flags.explicit_control);
  }
  ModelFlags model = flags.model;
  for (const std::string& text : flags.inputs) {
    absl::StatusOr<TensorSpec> input = ParseTensorText(text);
    if (!input.ok()) return input.status();
    model.inputs.push_back(*std::move(input));
  }
  return ConfigFromModelFiles(flags.model_files, model);
}

// The daemon fetches models that are not in the cache.
absl::StatusOr<Config> ConfigFromFile(const std::string& file) {
  absl::StatusOr<Config> config = ReadConfig(file);
  if (!config.ok()) return config;
  for (ModelConfig& model : config->models) {
    const std::string folder = model.awaits_hub() ? cli::KeptFolder(model.hub) : "";
    if (!folder.empty()) SetHubFolder(folder, &model);
  }
  return config;
}

absl::StatusOr<Config> ConfigOf(const ServeFlags& flags) {
  if (flags.reads_config()) return ConfigFromFile(flags.config);
  absl::StatusOr<Config> config = ConfigWithoutFile(flags);
  if (!config.ok()) return config;
  if (absl::Status status = SetAddresses(flags.listen, &*config); !status.ok()) return status;
  return config;
}

// A config file has the addresses in one place.
absl::Status CheckListenFlags(const ServeFlags& flags) {
  if (!flags.reads_config() || flags.listen == ListenFlags{}) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--host, --port, --http-port and --plaintext go with models on the command "
                   "line; in ",
                   flags.config, " the key 'listen' says where to listen"));
}

// Advice if another daemon has the addresses or the state folder.
void TellOfOtherAddresses(const ServeFlags& flags, int exit_code) {
  if (flags.reads_config()) return;
  if (exit_code == kExitCannotListen || exit_code == kExitRunsAlready) {
    std::fputs("mpsd: --port N and --http-port N choose other ports\n", stderr);
  }
}

// Finds the config if nothing is named to serve, and says which.
absl::Status NameConfig(ServeFlags* flags) {
  if (!flags->config.empty() || !flags->reads_config()) return absl::OkStatus();
  absl::StatusOr<std::string> found = FindConfig(kConfigPlaces);
  if (!found.ok()) return found.status();
  flags->config = *std::move(found);
  std::printf("config: %s\n", flags->config.c_str());
  std::fflush(stdout);
  return absl::OkStatus();
}

// Models with a hub's name become folders.
absl::Status PullModels(ServeFlags* flags) {
  for (std::string& file : flags->model_files) {
    if (!cli::IsHubModel(file)) continue;
    absl::StatusOr<std::string> folder =
        cli::PullToServe(file, std::cerr, isatty(STDERR_FILENO) == 1);
    if (!folder.ok()) return folder.status();
    file = *std::move(folder);
  }
  return absl::OkStatus();
}

int Serve(ServeFlags flags) {
  // First, since it may end this process in favour of another.
  absl::StatusOr<std::optional<Predecessor>> predecessor = Predecessor::FromEnvironment();
  if (!predecessor.ok()) return Complain(predecessor.status(), kExitConfig);
  if (absl::Status room = CheckThreadRoom(ThreadsToServe()); !room.ok()) {
    return Complain(room, kExitConfig);
  }
  // Before the daemon waits for signals, so that these end a pull.
  if (absl::Status pulled = PullModels(&flags); !pulled.ok()) return Complain(pulled, kExitConfig);
  const SignalWaiter signals;
  if (absl::Status named = NameConfig(&flags); !named.ok()) return Complain(named, kExitConfig);
  if (absl::Status fit = CheckListenFlags(flags); !fit.ok()) return Complain(fit, cli::kExitUsage);
  if (!flags.reads_config()) {
    const auto variable = [](const char* name) { return std::getenv(name); };
    const absl::Status read = ReadEnvironment(variable, &flags.listen, &flags.model);
    if (!read.ok()) return Complain(read, cli::kExitUsage);
  }
  const absl::StatusOr<Config> config = ConfigOf(flags);
  if (!config.ok()) {
    if (predecessor->has_value()) (*predecessor)->TellEnd(config.status().message());
    return Complain(config.status(), kExitConfig);
  }
  const int exit_code = RunDaemon(
      *config, [&flags] { return ConfigOf(flags); }, signals, *std::move(predecessor));
  TellOfOtherAddresses(flags, exit_code);
  return exit_code;
}

struct CheckFlags {
  std::string file;
  bool json = false;
};

std::string CheckJson(const std::string& file, const absl::StatusOr<Config>& config) {
  nlohmann::ordered_json report = {{"file", file}, {"ok", config.ok()}};
  report["mistakes"] = nlohmann::ordered_json::array();
  if (config.ok()) {
    report["models"] = config->models.size();
  } else {
    for (const absl::string_view line : absl::StrSplit(config.status().message(), '\n')) {
      report["mistakes"].push_back(std::string(line));
    }
  }
  using Handler = nlohmann::ordered_json::error_handler_t;
  return report.dump(-1, ' ', false, Handler::replace) + "\n";
}

int Check(CheckFlags flags) {
  if (flags.file.empty()) {
    absl::StatusOr<std::string> found = FindConfig(kConfigPlaces);
    if (!found.ok()) return Complain(found.status(), kExitConfig);
    flags.file = *std::move(found);
  }
  const absl::StatusOr<Config> config = ReadConfig(flags.file);
  if (flags.json) std::fputs(CheckJson(flags.file, config).c_str(), stdout);
  if (!config.ok()) return Complain(config.status(), kExitConfig);
  if (!flags.json) {
    const size_t count = config->models.size();
    std::printf("%s is right: %zu model%s\n", flags.file.c_str(), count, count == 1 ? "" : "s");
  }
  return kExitOk;
}

// For keys that are otherwise in a config file.
void AddListenFlags(CLI::App* verb, ListenFlags* flags) {
  verb->add_option("--host", flags->host, "where to listen; default: $MPSD_HOST, 127.0.0.1");
  verb->add_option("--port", flags->port, "of gRPC; default: $MPSD_PORT, 8001")
      ->check(cli::WholeNumber(0, 65535));
  verb->add_option("--http-port", flags->http_port,
                   "of HTTP; default: $MPSD_HTTP_PORT, $PORT, 8000 and 8002")
      ->check(cli::WholeNumber(0, 65535));
  verb->add_flag("--plaintext", flags->plaintext,
                 "let other hosts reach --host without TLS and rules of access");
}

void AddServe(CLI::App* app, ServeFlags* flags, int* exit_code) {
  CLI::App* verb = app->add_subcommand("serve", "run the daemon in the foreground");
  CLI::Option* config = verb->add_option("--config", flags->config,
                                         "config file; else ./mpsd.json or /etc/mpsd/mpsd.json")
                            ->type_name(cli::kFileValue);
  CLI::Option* model = verb->add_option("MODEL_FILE", flags->model_files,
                                        "serve these model files or folders, without a config")
                           ->type_name(cli::kFileValue);
  verb->add_option("--input", flags->inputs, "what it takes, as name:FP32[-1,16]")->needs(model);
  verb->add_option("--max-batch-size", flags->model.max_batch_size, "rows of a batch at most")
      ->check(cli::WholeNumber(1, kMaxBatchRows))
      ->needs(model);
  verb->add_option("--name", flags->model.name, "the model's name; default: that of its file")
      ->needs(model);
  verb->add_option("--device", flags->model.device, "cpu, cuda, cuda:1, mps; default: the best")
      ->type_name(cli::kDeviceValue)
      ->needs(model);
  verb->add_flag("--keep-going", flags->model.keep_going,
                 "serve on without a model that cannot be loaded")
      ->needs(model);
  AddListenFlags(verb, &flags->listen);
  CLI::Option* repository =
      verb->add_option("--model-repository", flags->model_repository,
                       "serve the models of a folder laid out as Triton's, without a config")
          ->type_name(cli::kFolderValue);
  verb->add_flag("--explicit", flags->explicit_control, "load those that clients ask for")
      ->needs(repository);
  config->excludes(model)->excludes(repository);
  model->excludes(repository);
  cli::SetExamples(verb,
                   "mpsd serve sentence-transformers/all-MiniLM-L6-v2\n"
                   "mpsd serve ./bge-small-en --port 9000 --http-port 9001\n"
                   "mpsd serve resnet.pt --input 'x:FP32[-1,3,224,224]' --max-batch-size 32\n"
                   "mpsd serve --config /etc/mpsd/mpsd.json");
  verb->callback([=] {
    flags->has_served = true;
    *exit_code = Serve(*flags);
  });
}

void AddDoctor(CLI::App* app, DoctorOptions* options, int* exit_code) {
  CLI::App* verb = app->add_subcommand("doctor", "say whether mpsd can serve on this host");
  verb->add_option("--config", options->config,
                   "config file; else ./mpsd.json, /etc/mpsd/mpsd.json or the defaults")
      ->type_name(cli::kFileValue);
  auto* report = verb->add_option("--report", options->report, "write one file to send to others")
                     ->type_name(cli::kFileValue);
  verb->add_option("--mac-report", options->mac_report,
                   "the same, with the daemon's workers and log, and the bars of lanes")
      ->type_name(cli::kFileValue)
      ->excludes(report);
  options->colours = TakesColours(STDOUT_FILENO);
  options->build = BuildInfo();
  verb->add_flag("--json", options->json, "write JSON");
  verb->add_flag("--mac-checklist", options->mac_checklist,
                 "print what only a person with a Mac can check");
  verb->callback([=] { *exit_code = RunDoctor(*options, std::cout, std::cerr); });
}

void AddCheck(CLI::App* app, CheckFlags* flags, int* exit_code) {
  CLI::App* verb = app->add_subcommand("check", "check a config file");
  CLI::Option* file =
      verb->add_option("FILE", flags->file, "default: ./mpsd.json or /etc/mpsd/mpsd.json")
          ->type_name(cli::kFileValue);
  verb->add_option("--config", flags->file, "the same, as other verbs take it")
      ->type_name(cli::kFileValue)
      ->excludes(file);
  verb->add_flag("--json", flags->json, "write JSON");
  verb->callback([=] { *exit_code = Check(*flags); });
}

// A line of BuildInfo() is a key and its value; the first key is the program's name.
std::string VersionJson() {
  nlohmann::ordered_json report;
  for (const absl::string_view line : absl::StrSplit(BuildInfo(), '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 1));
    report[words[0] == "mpsd" ? "version" : words[0]] = words.back();
  }
  return report.dump();
}

void AddVersion(CLI::App* app, bool* json) {
  CLI::App* verb = app->add_subcommand("version", "print the version");
  verb->add_flag("--json", *json, "write JSON");
  verb->callback([json] { std::puts((*json ? VersionJson() : BuildInfo()).c_str()); });
}

int OperatorExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kAlreadyExists:
      return cli::kExitUsage;
    case absl::StatusCode::kUnavailable:
      return cli::kExitCannotWrite;
    default:
      return cli::kExitNoInput;
  }
}

void AddLogs(CLI::App* app, LogsOptions* options, int* exit_code) {
  CLI::App* verb = app->add_subcommand("logs", "show the log of this host's daemon");
  verb->add_flag("-f,--follow", options->follow, "show further lines as they come");
  verb->add_option("-n,--lines", options->lines, "the last so many")
      ->check(cli::WholeNumber(0, std::numeric_limits<uint32_t>::max()))
      ->capture_default_str();
  verb->add_option("--config", options->config,
                   "config file; else ./mpsd.json or /etc/mpsd/mpsd.json")
      ->type_name(cli::kFileValue);
  verb->callback([=] {
    const absl::Status status = RunLogs(*options);
    *exit_code = Complain(status, OperatorExitCode(status));
  });
}

void AddToken(CLI::App* app, TokenOptions* options, int* exit_code) {
  CLI::App* verb = app->add_subcommand("token", "make, list and revoke the tokens of clients");
  verb->add_option("ACTION", options->action, "what to do")
      ->required()
      ->check(CLI::IsMember({"create", "list", "revoke"}));
  verb->add_option("NAME", options->name, "the token's name, for rules of access");
  verb->add_option("--file", options->file, "the file of tokens; default: that of the config")
      ->type_name(cli::kFileValue);
  verb->add_option("--config", options->config,
                   "config file; else ./mpsd.json or /etc/mpsd/mpsd.json")
      ->type_name(cli::kFileValue);
  verb->add_flag("--json", options->json, "write JSON");
  cli::SetExamples(verb,
                   "mpsd token create embedder\n"
                   "mpsd token list --json\n"
                   "mpsd token revoke embedder");
  verb->callback([=] {
    const absl::Status status = RunToken(*options, std::cout, std::cerr);
    *exit_code = status.ok() ? kExitOk : Complain(status, OperatorExitCode(status));
  });
}

// The package's script decides by it.
int UpgradeExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return cli::kExitNotReachable;
    case absl::StatusCode::kPermissionDenied:
      return cli::kExitNoInput;
    case absl::StatusCode::kAborted:
      return kExitRunsAlready;
    case absl::StatusCode::kInvalidArgument:
      return kExitConfig;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:
      return kExitNeedsRestart;
    default:
      return cli::kExitServerError;
  }
}

void AddUpgrade(CLI::App* app, UpgradeOptions* options, int* exit_code) {
  CLI::App* verb = app->add_subcommand(
      "upgrade", "have this host's daemon hand over to the program that is installed now");
  verb->add_option("--config", options->config,
                   "config file; else ./mpsd.json or /etc/mpsd/mpsd.json")
      ->type_name(cli::kFileValue);
  verb->callback([=] {
    const absl::Status status = RunUpgrade(*options, std::cout);
    *exit_code = status.ok() ? kExitOk : Complain(status, UpgradeExitCode(status));
  });
}

// The tokenizer with which a folder is served, for `inspect`.
nlohmann::ordered_json TokenizerOf(const std::string& folder) {
  const absl::StatusOr<std::string> absolute = AbsolutePath(folder);
  const std::string path = absolute.ok() ? TokenizerIn(*absolute) : "";
  return path.empty() ? nlohmann::ordered_json() : TokenizerFacts(path);
}

// In the place of a closed stdout the lock or a client's socket would get the text. A write to
// /dev/null, opened to be read, fails as one to a closed file does.
void FillClosedFiles() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDONLY);
  if (fd >= 0) close(fd);
}

int Main(int argc, char** argv) {
  FillClosedFiles();
  CLI::App app("mpsd serves PyTorch models over gRPC and HTTP.");
  app.require_subcommand(1);
  app.set_version_flag("--version", BuildInfo());
  int exit_code = kExitOk;
  ServeFlags serve;
  AddServe(&app, &serve, &exit_code);
  DoctorOptions doctor;
  AddDoctor(&app, &doctor, &exit_code);
  LogsOptions logs;
  AddLogs(&app, &logs, &exit_code);
  TokenOptions token;
  AddToken(&app, &token, &exit_code);
  UpgradeOptions upgrade;
  AddUpgrade(&app, &upgrade, &exit_code);
  CheckFlags checked;
  AddCheck(&app, &checked, &exit_code);
  bool version_as_json = false;
  AddVersion(&app, &version_as_json);
  cli::AddInferVerb(app, &exit_code);
  cli::AddPsVerb(app, &exit_code);
  cli::AddListVerb(app, &exit_code);
  cli::AddBenchVerb(app, &exit_code);
  cli::AddTuneVerb(app, &exit_code);
  cli::AddForgiveVerb(app, &exit_code);
  cli::AddTextVerbs(app, &exit_code);
  cli::AddHubVerbs(app, &exit_code);
  cli::AddInspectVerbs(app, TokenizerOf, &exit_code);
  cli::AddManualVerbs(app, kConfigSchema, &exit_code);
  cli::AddHelpVerb(app);
  // Last: a verb begins with the footer that the program has then.
  app.footer(
      "Exit codes: 0 ok, 1 the server answered an error, or nothing meets an SLO, 64 wrong usage, "
      "66 a file cannot be read, 69 no server there, or an address that cannot be bound, 70 only a "
      "restart takes the new version, 71 the doctor found a fault, 73 a file cannot be written, 75 "
      "it runs already, 78 wrong config, or "
      "not enough memory or threads for it.");
  const int code = cli::ParseAndRun(app, argc, argv, &exit_code);
  // A daemon may outlive the reader of its stdout.
  return serve.has_served ? code : cli::EndOfOutput(code);
}

// Protobuf writes a line to stderr for each request with bytes that are not UTF-8. Such a request
// is answered with its fault.
void QuietProtobuf() {
#if __has_include(<google/protobuf/stubs/logging.h>)
  google::protobuf::SetLogHandler(
      [](google::protobuf::LogLevel level, const char* file, int line, const std::string& text) {
        if (level != google::protobuf::LOGLEVEL_FATAL) return;
        std::fprintf(stderr, "mpsd: %s:%d: %s\n", file, line, text.c_str());
      });
#endif
}

}  // namespace
}  // namespace mpsd

int main(int argc, char** argv) {
  mpsd::QuietProtobuf();
  // Debian builds Abseil with its deadlock detector on, which costs something for each lock.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return mpsd::Main(argc, argv);
}
