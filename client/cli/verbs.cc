#include "client/cli/verbs.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/bench/load_point.h"
#include "client/cli/bench_verb.h"
#include "client/cli/exit_code.h"
#include "client/cli/forgive_verb.h"
#include "client/cli/hub_verbs.h"
#include "client/cli/infer_verb.h"
#include "client/cli/inspect_verb.h"
#include "client/cli/list_verb.h"
#include "client/cli/manual_verbs.h"
#include "client/cli/ps_verb.h"
#include "client/cli/text_verbs.h"
#include "client/cli/tune_verb.h"
#include "proto/base/colour.h"
#include "proto/base/limits.h"
#include "proto/link/json_object.h"

namespace mpsd::cli {
namespace {

void AddAccessOptions(CLI::App* verb, ServerOptions* options) {
  verb->add_option("--timeout", options->timeout, "how long an answer may take")
      ->capture_default_str();
  verb->add_option("--tls-ca", options->tls_ca, "with TLS; trusts the authorities in this PEM file")
      ->type_name(kFileValue);
  CLI::Option* certificate =
      verb->add_option("--tls-cert", options->tls_certificate, "PEM file: this client's own")
          ->type_name(kFileValue);
  CLI::Option* key =
      verb->add_option("--tls-key", options->tls_key, "PEM file: its key")->type_name(kFileValue);
  certificate->needs(key);
  key->needs(certificate);
  verb->add_option("--token-file", options->token_file, "a file that holds the token to show")
      ->type_name(kFileValue)
      ->envname("MPSD_TOKEN_FILE");
}

// `environment` names the variable for the server, if the command line has none.
void AddServerOption(CLI::App* verb, ServerOptions* options, const char* environment,
                     const char* help) {
  verb->add_option("--server,--address", options->address, help)
      ->envname(environment)
      ->capture_default_str();
}

void AddCommonOptions(CLI::App* verb, ServerOptions* options) {
  const bool has_grpc_address = std::getenv("MPSD_ADDRESS") != nullptr;
  AddServerOption(verb, options, has_grpc_address ? "MPSD_ADDRESS" : "MPSD_SERVER",
                  "the server: HOST:PORT or unix:PATH of gRPC, or http(s)://HOST:PORT");
  options->colours = TakesColours(STDOUT_FILENO);
  verb->add_flag("--json", options->json, "write JSON");
  verb->add_flag("--tls", options->tls, "with TLS; trusts the system's authorities");
  AddAccessOptions(verb, options);
}

// A check that says which number is `wanted`; `bounds` is for the help.
CLI::Validator NumberIn(const std::string& wanted, const std::string& bounds,
                        const std::function<bool(absl::string_view)>& is_in) {
  const auto fault = [=](std::string& text) {
    return is_in(text) ? "" : absl::StrCat("must be ", wanted, ", not '", text, "'");
  };
  return CLI::Validator(fault, bounds);
}

// One value each time, even if it begins like an option.
void AddList(CLI::App* verb, const char* name, std::vector<std::string>* values, const char* help) {
  verb->add_option(name, *values, help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

CLI::Validator WholeNumber(int64_t least, int64_t most) {
  const bool has_most = most != std::numeric_limits<int64_t>::max();
  const std::string bounds =
      has_most ? absl::StrCat("from ", least, " to ", most) : absl::StrCat("from ", least, " on");
  return NumberIn(absl::StrCat("a whole number ", bounds), bounds, [=](absl::string_view text) {
    int64_t number = 0;
    return absl::SimpleAtoi(text, &number) && number >= least && number <= most;
  });
}

CLI::Validator AnyNumber(double least, double most) {
  const std::string bounds = absl::StrCat("from ", least, " to ", most);
  return NumberIn(absl::StrCat("a number ", bounds), bounds, [=](absl::string_view text) {
    double number = 0;
    return absl::SimpleAtod(text, &number) && number >= least && number <= most;
  });
}

void SetExamples(CLI::App* verb, absl::string_view lines) {
  verb->footer(absl::StrCat("Examples:\n", lines));
}

void AddInferVerb(CLI::App& app, int* exit_code) {
  // CLI11 keeps the callback with its options while the application lives.
  const auto options = std::make_shared<InferOptions>();
  CLI::App* verb = app.add_subcommand("infer", "send one request to a running daemon");
  verb->add_option("model", options->model, "the model's name")->required();
  AddList(verb, "--input", &options->inputs,
          "NAME=1,2,3, NAME=@FILE.npy, NAME=@FILE.json or NAME=random; NAME=@FILE, such as an "
          "image, where the model takes BYTES; may be repeated");
  AddList(verb, "--shape", &options->shapes, "NAME=1,16: the shape of that input");
  AddList(verb, "--text", &options->texts,
          "a text for a model that takes texts; several become the rows of one batch");
  AddList(verb, "--output", &options->outputs,
          "NAME or NAME=@FILE.npy: only these outputs; kept in the file");
  verb->add_option("--batch", options->batch, "rows of the random inputs")->check(WholeNumber(1));
  verb->add_option("--seed", options->seed, "of the random inputs")
      ->check(WholeNumber(0))
      ->capture_default_str();
  verb->add_option("--model-version", options->version, "default: the highest that is ready");
  verb->add_option("--id", options->id, "the request's id");
  AddCommonOptions(verb, &options->server);
  SetExamples(verb,
              "mpsd infer minilm --text 'How do I renew my passport?'\n"
              "mpsd infer resnet --input x=random --batch 8\n"
              "mpsd infer mlp --input x=@rows.npy --output y=@scores.npy");
  verb->callback([options, exit_code] { *exit_code = RunInfer(*options, std::cout, std::cerr); });
}

void AddPsVerb(CLI::App& app, int* exit_code) {
  const auto options = std::make_shared<PsOptions>();
  CLI::App* verb = app.add_subcommand("ps", "show a running daemon's models and workers");
  verb->add_option("model", options->model, "only this model");
  verb->add_flag(
      "--why", options->why,
      "why workers ended: the last exit, the last lines that they wrote, the next start");
  AddCommonOptions(verb, &options->server);
  SetExamples(verb,
              "mpsd ps\n"
              "mpsd ps minilm --why");
  verb->callback([options, exit_code] { *exit_code = RunPs(*options, std::cout, std::cerr); });
}

void AddListVerb(CLI::App& app, int* exit_code) {
  const auto options = std::make_shared<ServerOptions>();
  CLI::App* verb = app.add_subcommand("list", "show the models that a running server knows");
  AddCommonOptions(verb, options.get());
  verb->callback([options, exit_code] { *exit_code = RunList(*options, std::cout, std::cerr); });
}

namespace {

void AddLoadInputOptions(CLI::App* verb, LoadInputOptions* options) {
  AddList(verb, "--input", &options->inputs,
          "NAME, NAME=3, NAME=0..99 (elements, or words of a text) or NAME=@FILE.npy; only these "
          "inputs are sent; default: `text` where the model has it, else all");
  AddList(verb, "--shape", &options->shapes, "NAME=1,16: the shape of that --input");
  verb->add_option("--lengths", options->lengths,
                   "sizes of open dims; each request has one of them (default 16)")
      ->delimiter(',')
      ->check(WholeNumber(1));
  verb->add_option("--rows", options->rows, "rows of each request")->check(WholeNumber(1));
  verb->add_option("--seed", options->seed, "of contents and arrivals")
      ->check(WholeNumber(0))
      ->capture_default_str();
}

}  // namespace

void AddBenchVerb(CLI::App& app, int* exit_code) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* verb = app.add_subcommand("bench", "measure a model of a running server under load");
  verb->add_option("model", options->model, "the model's name")->required();
  verb->add_option("--clients", options->clients,
                   "1,4,16,64: so many clients that each wait for their answer (default)")
      ->delimiter(',')
      ->check(WholeNumber(1, 65536));
  verb->add_option("--rate", options->rates,
                   "100,200: so many requests a second, whenever answers come")
      ->delimiter(',')
      ->check(AnyNumber(bench::kMinRate, bench::kMaxRate));
  verb->add_option("--seconds", options->seconds, "how long each load is measured")
      ->check(AnyNumber(0.1, 3600))
      ->capture_default_str();
  verb->add_option("--slo", options->slo,
                   "p99=20ms: find the highest rate at which 99 of 100 answers come in time");
  AddLoadInputOptions(verb, &options->requests);
  AddCommonOptions(verb, &options->server);
  SetExamples(verb,
              "mpsd bench minilm --clients 1,16,64\n"
              "mpsd bench minilm --slo p99=20ms");
  verb->callback([options, exit_code] { *exit_code = RunBench(*options, std::cout, std::cerr); });
}

void AddTuneVerb(CLI::App& app, int* exit_code) {
  const auto options = std::make_shared<TuneOptions>();
  CLI::App* verb =
      app.add_subcommand("tune", "find by measurement the config with which a model serves most");
  verb->add_option("model", options->model, "the model's name in the config")->required();
  verb->add_option("--slo", options->slo,
                   "p99=20ms: 99 of 100 answers must come in time; what serves most then is best")
      ->required();
  verb->add_option("--config", options->config,
                   "config file; else ./mpsd.json or /etc/mpsd/mpsd.json")
      ->type_name(kFileValue);
  verb->add_option("--output", options->output, "write the whole config, changed, to this file")
      ->type_name(kFileValue);
  verb->add_flag("--force", options->force, "overwrite that file");
  verb->add_option("--budget", options->budget, "how long to search, as 90s or 10m")
      ->capture_default_str();
  verb->add_option("--seconds", options->seconds,
                   "how long each load is measured, at least ten times the SLO")
      ->check(AnyNumber(0.1, 600))
      ->capture_default_str();
  verb->add_option("--start-timeout", options->start_timeout,
                   "how long the model may take to be ready")
      ->capture_default_str();
  verb->add_option("--precision", options->precisions,
                   "bf16,fp16: try these too; the answers change a little")
      ->delimiter(',')
      ->check(CLI::IsMember({"as_saved", "auto", "fp32", "tf32", "bf16", "fp16", "int8"}));
  verb->add_flag("--json", options->json, "write JSON");
  AddLoadInputOptions(verb, &options->requests);
  SetExamples(verb, "mpsd tune minilm --slo p99=20ms --output tuned.json");
  verb->callback([options, exit_code] { *exit_code = RunTune(*options, std::cout, std::cerr); });
}

void AddForgiveVerb(CLI::App& app, int* exit_code) {
  const auto options = std::make_shared<ForgiveOptions>();
  CLI::App* verb = app.add_subcommand(
      "forgive", "have a model take again the contents that crashed its workers");
  verb->add_option("model", options->model, "the model's name")->required();
  AddCommonOptions(verb, &options->server);
  verb->callback([options, exit_code] { *exit_code = RunForgive(*options, std::cout, std::cerr); });
}

namespace {

Console ThisConsole() {
  return {std::cout, std::cerr, isatty(STDOUT_FILENO) == 1, isatty(STDERR_FILENO) == 1};
}

void AddTextOptions(CLI::App* verb, TextOptions* options, const char* file) {
  verb->add_option("TEXT", options->texts,
                   "the texts; behind -- also those that begin with a dash");
  verb->add_option(file, options->file, "a file of further texts, one a line; - is stdin")
      ->type_name(kFileValue);
  verb->add_option("--model", options->model, "default: the only one that does this");
  verb->add_flag("--json", options->server.json, "write JSON");
  verb->add_option("--output-file", options->output_file, "the file to write; default: stdout")
      ->type_name(kFileValue);
  verb->add_option("--wait", options->wait, "how long to wait for a model that loads")
      ->capture_default_str();
  options->server.address = kDefaultHttpAddress;
  AddServerOption(verb, &options->server, "MPSD_SERVER",
                  "the server: HOST:PORT of HTTP, or http(s)://HOST:PORT");
  verb->add_flag("--tls", options->server.tls, "with TLS; trusts the system's authorities");
  AddAccessOptions(verb, &options->server);
}

}  // namespace

void AddHubVerbs(CLI::App& app, int* exit_code) {
  const auto options = std::make_shared<HubOptions>();
  options->is_terminal = isatty(STDERR_FILENO) == 1;
  const auto add = [&app, options](const char* verb, const char* text) {
    CLI::App* added = app.add_subcommand(verb, text);
    added->add_flag("--json", options->json, "write JSON");
    return added;
  };
  CLI::App* pull = add("pull", "fetch a model from the hub into this host's cache");
  CLI::App* models = add("models", "show the models in this host's cache");
  CLI::App* remove = add("rm", "remove a model from this host's cache");
  pull->add_option("MODEL", options->model, "ORG/NAME or ORG/NAME@REVISION")->required();
  remove->add_option("MODEL", options->model, "ORG/NAME, with all its revisions")->required();
  SetExamples(pull, "mpsd pull sentence-transformers/all-MiniLM-L6-v2");
  pull->callback([=] { *exit_code = RunPull(*options, std::cout, std::cerr); });
  models->callback([=] { *exit_code = RunModels(*options, std::cout, std::cerr); });
  remove->callback([=] { *exit_code = RunRemove(*options, std::cout, std::cerr); });
}

void AddTextVerbs(CLI::App& app, int* exit_code) {
  const auto embed = std::make_shared<EmbedOptions>();
  CLI::App* verb = app.add_subcommand("embed", "make vectors of texts");
  AddTextOptions(verb, embed.get(), "--file");
  verb->add_flag("--npy", embed->npy, "write an array of numpy's");
  verb->add_option("--prompt", embed->prompt,
                   "the name of the model's prompt that goes in front of each text");
  SetExamples(verb,
              "mpsd embed 'a text' 'another text'\n"
              "mpsd embed --file texts.txt --npy --output-file vectors.npy");
  verb->callback([embed, exit_code] { *exit_code = RunEmbed(*embed, ThisConsole()); });

  const auto rerank = std::make_shared<RerankOptions>();
  verb = app.add_subcommand("rerank", "sort documents by how well they answer a query");
  verb->add_option("QUERY", rerank->query, "the query")->required();
  AddTextOptions(verb, rerank.get(), "--documents");
  verb->add_option("--top-n", rerank->top_count, "only the best so many")->check(WholeNumber(1));
  SetExamples(verb, "mpsd rerank 'a query' --documents documents.txt --top-n 3");
  verb->callback([rerank, exit_code] { *exit_code = RunRerank(*rerank, ThisConsole()); });

  const auto tokenize = std::make_shared<TextOptions>();
  verb = app.add_subcommand("tokenize", "show the tokens of texts, uncut");
  AddTextOptions(verb, tokenize.get(), "--file");
  SetExamples(verb, "mpsd tokenize 'a text'");
  verb->callback([tokenize, exit_code] { *exit_code = RunTokenize(*tokenize, ThisConsole()); });
}

namespace {

void AddFileOptions(CLI::App* verb, InspectOptions* options) {
  verb->add_option("FILE", options->file,
                   "a model file, .pt or .pt2, or a folder of Hugging Face's; to inspect also "
                   "ORG/NAME at a hub")
      ->type_name(kFileValue)
      ->required();
  AddList(verb, "--input", &options->inputs,
          "what it takes, as name:FP32[-1,16], where the file does not tell");
  AddList(verb, "--output", &options->outputs, "what it gives, likewise");
  verb->add_option("--max-batch-size", options->max_batch_size, "rows of a batch at most")
      ->check(WholeNumber(1, kMaxBatchRows));
  verb->add_option("--device", options->device, "where to load it")
      ->type_name(kDeviceValue)
      ->capture_default_str();
}

}  // namespace

void AddInspectVerbs(CLI::App& app, const TokenizerTeller& tokenizer_of, int* exit_code) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* inspect = app.add_subcommand(
      "inspect", "show what a model file takes and gives, and a folder's tokenizer");
  AddFileOptions(inspect, options.get());
  inspect
      ->add_option("--precision", options->precision,
                   "what to compute in: auto, fp32, tf32, bf16, fp16, int8")
      ->capture_default_str();
  inspect->add_flag("--json", options->json, "write JSON");
  inspect->callback([options, tokenizer_of, exit_code] {
    if (IsHubModel(options->file)) {
      const HubOptions model = {.model = options->file, .json = options->json};
      *exit_code = RunInspectModel(model, std::cout, std::cerr);
      return;
    }
    *exit_code = RunInspect(*options, tokenizer_of, std::cout, std::cerr);
  });
  const auto target = std::make_shared<InspectOptions>();
  CLI::App* init = app.add_subcommand("init", "write a config that serves a model file");
  AddFileOptions(init, target.get());
  init->add_option("--config", target->target, "the config to write")
      ->type_name(kFileValue)
      ->capture_default_str();
  init->add_flag("--force", target->force, "overwrite it");
  SetExamples(init,
              "mpsd init resnet.pt --input 'x:FP32[-1,3,224,224]' --max-batch-size 32\n"
              "mpsd init ./bge-small-en --config mpsd.json");
  init->callback([target, exit_code] { *exit_code = RunInit(*target, std::cout, std::cerr); });
}

namespace {

// Empty if it is a verb.
std::string VerbFault(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_name() == word) return "";
    names.push_back(verb->get_name());
  }
  const std::vector<std::string_view> verbs(names.begin(), names.end());
  return absl::StrCat("there is no verb '", word, "'", DidYouMean(word, verbs, "there are"));
}

// Empty if there is no unknown word.
std::string FlagFault(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const CLI::App& place = parsed.empty() ? app : *parsed.front();
  const std::vector<std::string> rest = place.remaining();
  if (rest.empty()) return "";
  const std::string word = rest.front().substr(0, rest.front().find('='));
  const std::string name = &place == &app ? "mpsd" : absl::StrCat("mpsd ", place.get_name());
  if (word.front() != '-') return absl::StrCat(name, " takes no '", word, "' there");
  std::vector<std::string> names;
  for (const CLI::Option* option : place.get_options()) {
    for (const std::string& flag : option->get_lnames()) names.push_back("--" + flag);
  }
  const std::vector<std::string_view> flags(names.begin(), names.end());
  return absl::StrCat(name, " has no flag '", word, "'", DidYouMean(word, flags, "it has"));
}

// `help VERB` becomes CLI11's `VERB --help`.
std::vector<const char*> WithoutHelpVerb(std::vector<const char*> words) {
  if (words.size() < 2 || std::string_view(words[1]) != "help") return words;
  if (words.size() == 2) return {words[0], "--help"};
  return {words[0], words[2], "--help"};
}

}  // namespace

void AddManualVerbs(CLI::App& app, absl::string_view schema, int* exit_code) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* completion =
      app.add_subcommand("completion", "print what makes a shell complete verbs and flags");
  completion->add_option("SHELL", *shell, "the shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  SetExamples(completion,
              "source <(mpsd completion bash)\n"
              "mpsd completion zsh > ~/.zfunc/_mpsd\n"
              "mpsd completion fish > ~/.config/fish/completions/mpsd.fish");
  completion->callback([&app, shell, exit_code] {
    *exit_code = RunCompletion(*shell, TableOf(app), std::cout, std::cerr);
  });

  const auto options = std::make_shared<ManualOptions>();
  CLI::App* manual = app.add_subcommand("man", "print a manual page, for `man -l -`");
  CLI::Option* page =
      manual->add_option("VERB", options->page, "a verb, or mpsd.json")->type_name(kVerbValue);
  manual->add_option("--into", options->folder, "write all pages into this folder")
      ->type_name(kFolderValue)
      ->excludes(page);
  SetExamples(manual,
              "mpsd man serve | man -l -\n"
              "mpsd man mpsd.json | man -l -");
  manual->callback([&app, options, schema, exit_code] {
    *exit_code = RunManual(*options, TableOf(app), schema, std::cout, std::cerr);
  });
}

// Its word is for the table: WithoutHelpVerb() takes the verb away before.
void AddHelpVerb(CLI::App& app) {
  app.add_subcommand("help", "explain a verb")->add_option("VERB")->type_name(kVerbValue);
}

int EndOfOutput(int exit_code) {
  std::cout.flush();
  const bool is_out = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (is_out || exit_code != kExitOk) return exit_code;
  return Fail(std::cerr, kExitCannotWrite, absl::DataLossError("the output cannot be written"));
}

int ParseAndRun(CLI::App& app, int argc, const char* const* argv, const int* exit_code) {
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);  // the verbs say what has failed
  app.name("mpsd");
  if (argc < 2) {
    std::cerr << app.help();
    return kExitUsage;
  }
  const std::vector<const char*> words = WithoutHelpVerb({argv, argv + argc});
  const std::string fault = words[1][0] == '-' ? "" : VerbFault(app, words[1]);
  if (!fault.empty()) return Fail(std::cerr, kExitUsage, absl::InvalidArgumentError(fault));
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const std::string flag_fault = FlagFault(app);
    const std::string text = flag_fault.empty() ? error.what() : flag_fault;
    return Fail(std::cerr, kExitUsage, absl::InvalidArgumentError(text));
  }
  return *exit_code;
}

}  // namespace mpsd::cli
