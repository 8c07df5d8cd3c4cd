#include "server/ready_table.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/bodies/text_routes/text_models.h"

namespace mpsd {
namespace {

using testing::HasSubstr;
using testing::Not;

class NoWorkers final : public WorkerStatusSource {
 public:
  std::vector<WorkerInfo> Workers(const ServedModel&) const override { return {}; }
  std::string Circuit(const ServedModel&) const override { return ""; }
  std::vector<OtherGeneration> Others(const ServedModel&) const override { return {}; }
};

class ReadyTableTest : public testing::Test {
 protected:
  ReadyTableTest() {
    facts_.program = "mpsd";
    Listen({"127.0.0.1:8001"});
  }

  void Listen(std::vector<std::string> plain, const std::vector<std::string>& tls = {}) {
    facts_.plain_count = plain.size();
    facts_.grpc = std::move(plain);
    facts_.grpc.insert(facts_.grpc.end(), tls.begin(), tls.end());
  }

  ServedModel* Add(const std::string& name, std::vector<TensorSpec> inputs) {
    auto model = std::make_shared<ServedModel>();
    model->name = name;
    model->spec.inputs = std::move(inputs);
    model->ready = model->loaded = true;
    models_.Publish(model);
    return model.get();
  }

  std::string Table() const { return ReadyTable(facts_, models_, NoWorkers()); }

  ReadyTableFacts facts_;
  ModelDirectory models_;
};

TEST_F(ReadyTableTest, AnExampleHasAllInputs) {
  Add("m", {{"a", DataType::kFp32, {2}}, {"b c", DataType::kInt64, {2}}});
  EXPECT_THAT(Table(), HasSubstr("\n  mpsd infer m --input a=random --input 'b c=random'\n"));
}

TEST_F(ReadyTableTest, AProgramInAFolderWithABlankIsOneWord) {
  Add("m", {{"x", DataType::kFp32, {1}}});
  facts_.program = "my dir/mpsd";
  EXPECT_THAT(Table(), HasSubstr("\n  'my dir/mpsd' infer m --input x=random\n"));
  EXPECT_THAT(Table(), HasSubstr("\n  'my dir/mpsd' ps\n"));
  facts_.program = "mpsd-1~dev/mpsd";
  EXPECT_THAT(Table(), HasSubstr("\n  mpsd-1~dev/mpsd ps\n"));
}

TEST_F(ReadyTableTest, ATextEncoderGetsAText) {
  Add("m", {{"input_ids", DataType::kInt64, {-1}}})->texts = std::shared_ptr<const TextEncoder>();
  EXPECT_THAT(Table(), HasSubstr("infer m --text 'How far is it to the sea?'\n"));
}

TEST_F(ReadyTableTest, AnEmbedderOfTextsIsAskedAsOpenAisClientsAsk) {
  const std::shared_ptr<ServedModel> model = ServedEmbedder("m");
  model->ready = true;
  models_.Publish(model);
  facts_.http = {"127.0.0.1:8000"};
  facts_.plain_http_count = 1;
  EXPECT_THAT(Table(), Not(HasSubstr("/v1/embeddings")));  // it takes tokens alone
  model->texts = std::shared_ptr<const TextEncoder>();
  EXPECT_THAT(Table(), HasSubstr("\n  curl -s http://127.0.0.1:8000/v1/embeddings -d "
                                 "'{\"model\":\"m\",\"input\":\"How far is it to the sea?\"}'\n"));
}

TEST_F(ReadyTableTest, InputsThatNobodyCanMakeUpHaveNoExample) {
  Add("words", {{"x", DataType::kBytes, {1}}});
  Add("late", {{"x", DataType::kFp32, {1}}})->ready = false;
  EXPECT_THAT(Table(), Not(HasSubstr("infer")));
  EXPECT_THAT(Table(), HasSubstr("\n  mpsd ps\n"));
}

TEST_F(ReadyTableTest, ThereAreThreeLinesToTry) {
  for (size_t i = 0; i < 9; ++i) Add(absl::StrCat("m", i), {{"x", DataType::kFp32, {1}}});
  EXPECT_THAT(Table(), HasSubstr("\nTry:\n  mpsd infer m0 --input x=random\n"
                                 "  mpsd infer m1 --input x=random\n  mpsd ps\n"));
  facts_.http = {"127.0.0.1:8000"};
  facts_.plain_http_count = 1;
  EXPECT_THAT(Table(), HasSubstr("\nTry:\n  mpsd infer m0 --input x=random\n"
                                 "  curl http://127.0.0.1:8000/metrics\n  mpsd ps\n"));
}

TEST_F(ReadyTableTest, StatesHaveColoursWhereATerminalTakesThem) {
  Add("m", {});
  Add("late", {})->ready = false;
  facts_.colours = true;
  EXPECT_THAT(Table(), HasSubstr("  m      \033[32mready\033[0m      -"));
  EXPECT_THAT(Table(), HasSubstr("  late   \033[31mNOT READY\033[0m  -"));
}

TEST_F(ReadyTableTest, ExamplesNameAnAddressThatIsNotTheDefault) {
  Add("m", {{"x", DataType::kFp32, {1}}});
  Listen({"127.0.0.1:9001", "unix:/run/mpsd.sock"});
  EXPECT_THAT(Table(), HasSubstr("--input x=random --server 127.0.0.1:9001\n"));
  EXPECT_THAT(Table(), HasSubstr("mpsd ps --server 127.0.0.1:9001\n"));
}

TEST_F(ReadyTableTest, ExamplesShowAToken) {
  Add("m", {{"x", DataType::kFp32, {1}}});
  facts_.tokens = true;
  facts_.http = {"127.0.0.1:8000"};
  facts_.plain_http_count = 1;
  EXPECT_THAT(Table(), HasSubstr("--input x=random --token-file FILE\n"));
  EXPECT_THAT(Table(), HasSubstr("  curl -H \"Authorization: Bearer $(cat FILE)\" "
                                 "http://127.0.0.1:8000/metrics\n"));
  EXPECT_THAT(Table(), HasSubstr("mpsd ps --token-file FILE\n"));
  Listen({"127.0.0.1:9001"});
  EXPECT_EQ(ClientOptions(facts_), " --server 127.0.0.1:9001 --token-file FILE");
}

TEST_F(ReadyTableTest, TheDefaultAddressNeedsNoOption) {
  EXPECT_EQ(ClientOptions(facts_), "");
  Listen({"10.0.0.1:9001", "127.0.0.1:8001"});
  EXPECT_EQ(ClientOptions(facts_), "");
  Listen({"0.0.0.0:8001"});
  EXPECT_EQ(ClientOptions(facts_), "");
}

TEST_F(ReadyTableTest, AWildcardAddressIsReachedByLoopback) {
  Listen({"0.0.0.0:9001"});
  EXPECT_EQ(ClientOptions(facts_), " --server 127.0.0.1:9001");
  Listen({"[::]:9001"});
  EXPECT_EQ(ClientOptions(facts_), " --server '[::1]:9001'");
  facts_.http = {"unix:/run/http.sock", "0.0.0.0:8002", "127.0.0.1:8443"};
  EXPECT_THAT(Table(), Not(HasSubstr("curl")));  // all have TLS
  facts_.plain_http_count = 2;
  EXPECT_THAT(Table(), HasSubstr("curl http://127.0.0.1:8002/metrics"));
}

TEST_F(ReadyTableTest, AServerWithTlsAloneIsReachedWithTls) {
  Listen({}, {"127.0.0.1:8001"});
  EXPECT_EQ(ClientOptions(facts_), " --server 127.0.0.1:8001 --tls");
  Listen({"unix:/run/mpsd.sock"}, {"0.0.0.0:8001"});
  EXPECT_EQ(ClientOptions(facts_), " --server unix:/run/mpsd.sock");
}

}  // namespace
}  // namespace mpsd
