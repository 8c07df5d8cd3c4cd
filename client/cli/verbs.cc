#include "client/cli/verbs.h"

#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/forgive_verb.h"
#include "client/cli/infer_verb.h"
#include "client/cli/inspect_verb.h"
#include "client/cli/list_verb.h"
#include "client/cli/ps_verb.h"
#include "proto/link/json_object.h"

namespace mpsd::cli {
namespace {

void AddCommonOptions(CLI::App* verb, ServerOptions* options) {
  verb->add_option("--address", options->address, "the server: HOST:PORT or unix:PATH")
      ->envname("MPSD_ADDRESS")
      ->capture_default_str();
  verb->add_option("--timeout", options->timeout, "how long an answer may take")
      ->capture_default_str();
  verb->add_flag("--json", options->json, "write JSON");
  verb->add_flag("--tls", options->tls, "with TLS; trusts the system's authorities");
  verb->add_option("--tls-ca", options->tls_ca,
                   "with TLS; trusts the authorities in this PEM file");
  CLI::Option* certificate =
      verb->add_option("--tls-cert", options->tls_certificate, "PEM file: this client's own");
  CLI::Option* key = verb->add_option("--tls-key", options->tls_key, "PEM file: its key");
  certificate->needs(key);
  key->needs(certificate);
  verb->add_option("--token-file", options->token_file, "a file that holds the token to show")
      ->envname("MPSD_TOKEN_FILE");
}

// Takes one value for each occurrence of the option, even if the value begins like an option.
void AddList(CLI::App* verb, const char* name, std::vector<std::string>* values, const char* help) {
  verb->add_option(name, *values, help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void AddInferVerb(CLI::App& app, int* exit_code) {
  // CLI11 keeps the callback, and its options with it, as long as the application lives.
  const auto options = std::make_shared<InferOptions>();
  CLI::App* verb = app.add_subcommand("infer", "send one request to a running daemon");
  verb->add_option("model", options->model, "the model's name")->required();
  AddList(verb, "--input", &options->inputs, "NAME=@FILE.npy or NAME=random; may be repeated");
  AddList(verb, "--shape", &options->shapes, "NAME=1,16: the shape of that input");
  AddList(verb, "--text", &options->texts,
          "a text for a model that takes texts; several become the rows of one batch");
  AddList(verb, "--output", &options->outputs,
          "NAME or NAME=@FILE.npy: only these outputs; kept in the file");
  verb->add_option("--batch", options->batch, "rows of the random inputs")
      ->check(CLI::PositiveNumber);
  verb->add_option("--seed", options->seed, "of the random inputs")->capture_default_str();
  verb->add_option("--model-version", options->version, "default: the highest that is ready");
  verb->add_option("--id", options->id, "the request's id");
  AddCommonOptions(verb, &options->server);
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
  verb->callback([options, exit_code] { *exit_code = RunPs(*options, std::cout, std::cerr); });
}

void AddListVerb(CLI::App& app, int* exit_code) {
  const auto options = std::make_shared<ServerOptions>();
  CLI::App* verb = app.add_subcommand("list", "show the models that a running server knows");
  AddCommonOptions(verb, options.get());
  verb->callback([options, exit_code] { *exit_code = RunList(*options, std::cout, std::cerr); });
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

void AddFileOptions(CLI::App* verb, InspectOptions* options) {
  verb->add_option("FILE", options->file,
                   "a model file, .pt or .pt2, or a folder of Hugging Face's")
      ->required();
  AddList(verb, "--input", &options->inputs,
          "what it takes, as name:FP32[-1,16], where the file does not tell");
  AddList(verb, "--output", &options->outputs, "what it gives, likewise");
  verb->add_option("--max-batch-size", options->max_batch_size, "rows of a batch at most");
  verb->add_option("--device", options->device, "where to load it")->capture_default_str();
}

}  // namespace

void AddInspectVerbs(CLI::App& app, int* exit_code) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* inspect = app.add_subcommand("inspect", "show what a model file takes and gives");
  AddFileOptions(inspect, options.get());
  inspect
      ->add_option("--precision", options->precision,
                   "what to compute in: auto, fp32, tf32, bf16, fp16")
      ->capture_default_str();
  inspect->add_flag("--json", options->json, "write JSON");
  inspect->callback(
      [options, exit_code] { *exit_code = RunInspect(*options, std::cout, std::cerr); });
  const auto target = std::make_shared<InspectOptions>();
  CLI::App* init = app.add_subcommand("init", "write a config that serves a model file");
  AddFileOptions(init, target.get());
  init->add_option("--config", target->target, "the config to write")->capture_default_str();
  init->add_flag("--force", target->force, "overwrite it");
  init->callback([target, exit_code] { *exit_code = RunInit(*target, std::cout, std::cerr); });
}

namespace {

// What is wrong with a word where a verb is expected; empty: it is a verb.
std::string VerbFault(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_name() == word) return "";
    names.push_back(verb->get_name());
  }
  const std::vector<std::string_view> verbs(names.begin(), names.end());
  return absl::StrCat("there is no verb '", word, "'", DidYouMean(word, verbs, "there are"));
}

// `help VERB` as CLI11 understands it: `VERB --help`.
std::vector<const char*> WithoutHelpVerb(std::vector<const char*> words) {
  if (words.size() < 2 || std::string_view(words[1]) != "help") return words;
  if (words.size() == 2) return {words[0], "--help"};
  return {words[0], words[2], "--help"};
}

}  // namespace

void AddHelpVerb(CLI::App& app) { app.add_subcommand("help", "explain a verb: help VERB"); }

int ParseAndRun(CLI::App& app, int argc, const char* const* argv, const int* exit_code) {
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
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return *exit_code;
}

}  // namespace mpsd::cli
