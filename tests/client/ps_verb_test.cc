#include "client/cli/ps_verb.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/match.h"
#include "client/cli/forgive_verb.h"
#include "client/cli/verbs.h"
#include "tests/fakes/fake_inference_server.h"

namespace mpsd::cli {
namespace {

grpc::Status OneModel(grpc::ServerContext&, const control::v1::StatusRequest&,
                      control::v1::StatusReply* reply) {
  reply->set_server_name("mpsd");
  reply->set_server_version("0.1.0");
  reply->set_ready(true);
  auto* model = reply->add_models();
  model->set_name("mlp");
  model->set_version("1");
  model->set_state("ready");
  model->set_device("cpu");
  model->set_precision("bf16");
  model->set_precision_note("it agrees with fp32");
  model->set_max_batch_size(8);
  model->set_lanes(2);
  model->set_queued_requests(17);
  auto* worker = model->add_workers();
  worker->set_index(0);
  worker->set_pid(4711);
  worker->set_epoch(3);
  worker->set_lanes(2);
  worker->set_device("mps");
  worker->set_runtime("torch 2.9.1");
  worker->set_runtime_kind("patched");
  worker->set_runtime_path("/opt/torch/lib/libtorch_cpu.dylib");
  worker->set_driver_guard("held");
  worker->set_input_memory("in_place");
  worker->set_resident_bytes(64 << 20);
  worker->set_state("serving");
  worker->set_slowness(3.14);
  worker->set_restarts(2);
  worker->set_uptime_ms(3'725'000);
  worker->set_last_exit("signal 11 (SIGSEGV)");
  worker->set_exit_reason("signal");
  worker->add_last_lines("cannot open shared object file");
  return grpc::Status::OK;
}

grpc::Status OneResting(grpc::ServerContext&, const control::v1::StatusRequest&,
                        control::v1::StatusReply* reply) {
  auto* other = reply->add_models();
  other->set_name("other");
  auto* model = reply->add_models();
  model->set_name("m");
  model->set_version("1");
  model->set_state("unavailable: hang");
  model->set_circuit("open");
  auto* worker = model->add_workers();
  worker->set_restarts(4);
  worker->set_starts_in_ms(1500);
  worker->set_last_exit("hang: lane 0 made no progress for 30s");
  worker->set_exit_reason("hang");
  worker->add_last_lines("first");
  worker->add_last_lines("second");
  model->add_workers()->set_pid(12);
  return grpc::Status::OK;
}

grpc::Status OneThatRefuses(grpc::ServerContext&, const control::v1::StatusRequest&,
                            control::v1::StatusReply* reply) {
  auto* model = reply->add_models();
  model->set_name("m");
  model->set_version("1");
  model->set_state("ready");
  model->set_quarantined_requests(2220);
  model->set_warning("warm-up: it takes no zeros");
  auto* content = model->add_refused_contents();
  content->set_fingerprint(0xABC);
  content->set_age_ms(61'000);
  auto* refused = reply->add_models();
  refused->set_name("long");
  refused->set_state("refused: " + std::string(200, 'x'));
  return grpc::Status::OK;
}

class PsVerbTest : public testing::Test {
 protected:
  int Run() {
    server_.Start();
    options_.server.address = server_.address();
    return RunPs(options_, out_, err_);
  }

  FakeInferenceServer server_;
  PsOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(PsVerbTest, ShowsModelsAndWorkersInColumns) {
  server_.status = OneModel;
  EXPECT_EQ(Run(), 0) << err_.str();
  const std::string text = out_.str();
  EXPECT_TRUE(absl::StartsWith(text, "mpsd 0.1.0 at unix:")) << text;
  EXPECT_TRUE(absl::StrContains(
      text, "\nmlp    1        ready  -         cpu     bf16             1      2"))
      << text;
  EXPECT_TRUE(absl::StrContains(
      text, " mps     torch 2.9.1 patched, driver guard held, inputs in_place      2  64 MiB "))
      << text;
  EXPECT_TRUE(absl::StrContains(text, " serving, takes 3.1 times as long  mps ")) << text;
  EXPECT_TRUE(absl::StrContains(text, "64 MiB         2   1h 2m  signal 11 (SIGSEGV)\n")) << text;
  EXPECT_TRUE(absl::StrContains(text, "\nmlp 1: bf16: it agrees with fp32\n")) << text;
  EXPECT_FALSE(absl::StrContains(text, " \n")) << text;
}

TEST_F(PsVerbTest, SaysWhichDeviceWasPassedOverAndWhy) {
  server_.status = [](grpc::ServerContext&, const control::v1::StatusRequest&,
                      control::v1::StatusReply* reply) {
    for (const char* name : {"a", "b", "c"}) {
      auto* model = reply->add_models();
      model->set_name(name);
      if (*name != 'b') model->set_device_note("passed over cuda: libcudnn.so.9: none");
    }
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run(), 0) << err_.str();
  EXPECT_TRUE(absl::StrContains(out_.str(), "\na, c: passed over cuda: libcudnn.so.9: none\n\n"))
      << out_.str();
}

TEST_F(PsVerbTest, WritesJsonForPrograms) {
  server_.status = OneModel;
  options_.server.json = true;
  EXPECT_EQ(Run(), 0) << err_.str();
  const auto report = nlohmann::json::parse(out_.str());
  EXPECT_EQ(report["models"][0]["queued_requests"], 17);
  EXPECT_EQ(report["models"][0]["precision"], "bf16");
  EXPECT_EQ(report["models"][0]["precision_note"], "it agrees with fp32");
  EXPECT_EQ(report["models"][0]["workers"][0]["pid"], 4711);
  EXPECT_EQ(report["models"][0]["workers"][0]["runtime"], "torch 2.9.1");
  EXPECT_EQ(report["models"][0]["workers"][0]["runtime_kind"], "patched");
  EXPECT_EQ(report["models"][0]["workers"][0]["runtime_path"], "/opt/torch/lib/libtorch_cpu.dylib");
  EXPECT_EQ(report["models"][0]["workers"][0]["driver_guard"], "held");
  EXPECT_EQ(report["models"][0]["workers"][0]["input_memory"], "in_place");
  EXPECT_EQ(report["models"][0]["workers"][0]["slowness"], 3.14);
  EXPECT_EQ(report["models"][0]["workers"][0]["last_lines"][0], "cannot open shared object file");
}

TEST_F(PsVerbTest, SaysWhyWorkersEnded) {
  server_.status = OneResting;
  options_.why = true;
  options_.model = "m";
  EXPECT_EQ(Run(), 0) << err_.str();
  EXPECT_EQ(out_.str(),
            "m 1: unavailable: hang, circuit open\n"
            "  worker 0: starts in 2s, restarts 4\n"
            "    last exit: hang: lane 0 made no progress for 30s [hang]\n"
            "    last lines:\n"
            "      first\n"
            "      second\n"
            "  worker 0: runs as 12, , restarts 0, has not ended yet\n");
}

TEST_F(PsVerbTest, ShowsWhatDoesNotFitAColumnOnLinesOfItsOwn) {
  server_.status = OneThatRefuses;
  EXPECT_EQ(Run(), 0) << err_.str();
  const std::string text = out_.str();
  EXPECT_TRUE(absl::StrContains(text, "\nlong   -        refused  -         ")) << text;
  EXPECT_TRUE(absl::StrContains(text, "\nm 1: warning: warm-up: it takes no zeros\n")) << text;
  EXPECT_TRUE(absl::StrContains(text, "\nlong: refused: " + std::string(200, 'x') + "\n")) << text;
  EXPECT_TRUE(absl::StrContains(
      text,
      "\nm 1: refuses 1 contents that crashed a worker; refused requests so far: 2220; `mpsd "
      "forgive m` takes them again\n  0000000000000abc 1m 1s ago\n"))
      << text;
}

TEST_F(PsVerbTest, TellsProgramsAndThoseWhoAskWhyOfRefusedContents) {
  server_.status = OneThatRefuses;
  options_.why = true;
  EXPECT_EQ(Run(), 0) << err_.str();
  EXPECT_TRUE(absl::StrContains(out_.str(), "0000000000000abc 1m 1s ago\n")) << out_.str();
  options_.server.json = true;
  out_.str("");
  EXPECT_EQ(RunPs(options_, out_, err_), 0) << err_.str();
  const auto report = nlohmann::json::parse(out_.str());
  EXPECT_EQ(report["models"][0]["quarantined_requests"], 2220);
  EXPECT_EQ(report["models"][0]["refused_contents"][0]["fingerprint"], "0000000000000abc");
}

TEST(ForgiveVerb, SaysHowManyContentsWereForgiven) {
  FakeInferenceServer server;
  server.forgive = [](auto&, const control::v1::ForgiveRequest& request, auto* reply) {
    if (request.model_name() != "m") return grpc::Status(grpc::StatusCode::NOT_FOUND, "no model");
    reply->set_contents(3);
    return grpc::Status::OK;
  };
  server.Start();
  ForgiveOptions options;
  options.server.address = server.address();
  options.model = "m";
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunForgive(options, out, err), 0) << err.str();
  EXPECT_EQ(out.str(), "m takes 3 contents again\n");
  options.model = "n";
  EXPECT_EQ(RunForgive(options, out, err), 1);
  EXPECT_EQ(err.str(), "mpsd: NOT_FOUND: no model\n");
}

TEST_F(PsVerbTest, Exits1ForAModelThatIsNotThere) {
  server_.status = OneModel;
  options_.model = "nobody";
  EXPECT_EQ(Run(), 1);
  EXPECT_EQ(err_.str(), "mpsd: NOT_FOUND: there is no model 'nobody'\n");
}

TEST_F(PsVerbTest, Exits1WhereTheServerIsNotOurs) {
  EXPECT_EQ(Run(), 1);
  EXPECT_TRUE(absl::StartsWith(err_.str(), "mpsd: UNIMPLEMENTED")) << err_.str();
}

class VerbsTest : public testing::Test {
 protected:
  int Parse(std::vector<const char*> arguments) {
    CLI::App app("test");
    int exit_code = 0;
    AddInferVerb(app, &exit_code);
    AddPsVerb(app, &exit_code);
    arguments.insert(arguments.begin(), "mpsd");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int result =
        ParseAndRun(app, static_cast<int>(arguments.size()), arguments.data(), &exit_code);
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return result;
  }

  std::string out_;
  std::string err_;
};

TEST_F(VerbsTest, RunWhatTheCommandLineNames) {
  FakeInferenceServer server;
  server.metadata.set_name("m");
  server.infer = [](auto&, auto&, auto*) { return grpc::Status::OK; };
  server.Start();
  auto* input = server.metadata.add_inputs();
  input->set_name("x");
  input->set_datatype("INT8");
  input->add_shape(-1);
  const std::string address = server.address();
  EXPECT_EQ(Parse({"infer", "m", "--address", address.c_str(), "--input", "x=random", "--batch",
                   "4", "--timeout", "20s", "--json"}),
            0)
      << err_;
  EXPECT_EQ(server.LastInfer().raw_input_contents(0).size(), 4U);
}

TEST_F(VerbsTest, Exit64ForAWrongCommandLineAnd0ForHelp) {
  EXPECT_EQ(Parse({"infer"}), 64);
  EXPECT_EQ(Parse({"ps", "--no-such-option"}), 64);
  EXPECT_EQ(Parse({"infer", "m", "--batch", "0"}), 64);
  EXPECT_EQ(Parse({"infer", "--help"}), 0);
  EXPECT_TRUE(absl::StrContains(out_, "NAME=@FILE.npy"));
}

TEST_F(VerbsTest, TakeTheAddressFromTheEnvironment) {
  const FakeInferenceServer not_started;
  setenv("MPSD_ADDRESS", not_started.address().c_str(), 1);
  EXPECT_EQ(Parse({"ps"}), 69);
  unsetenv("MPSD_ADDRESS");
  EXPECT_TRUE(absl::StrContains(err_, not_started.address())) << err_;
}

}  // namespace
}  // namespace mpsd::cli
