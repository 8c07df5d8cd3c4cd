// The cost of one inference's JSON over HTTP, beside nlohmann's: 1,000 numbers in 11 kB become a
// tensor, an embedding of 384 floats an answer.

#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "server/bodies/json/infer_body.h"
#include "server/bodies/json/infer_reply.h"

namespace mpsd {
namespace {

constexpr size_t kRequestNumbers = 1000;
constexpr size_t kAnswerNumbers = 384;
constexpr uint64_t kMessageBytes = 64 << 20;

std::string RequestBody() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::string data;
  for (size_t i = 0; i < kRequestNumbers; ++i) {
    absl::StrAppend(&data, i > 0 ? "," : "", absl::StrFormat("%.8f", uniform(random)));
  }
  return absl::StrCat(R"({"inputs":[{"name":"x","shape":[1,)", kRequestNumbers,
                      R"(],"datatype":"FP32","data":[)", data, "]}]}");
}

// Different embeddings in turn: a processor would learn the branches of repeated numbers.
class Embeddings {
 public:
  Embeddings() {
    std::mt19937 random(2);
    std::normal_distribution<float> normal(0, 0.05F);
    for (std::vector<float>& numbers : all_) {
      numbers.resize(kAnswerNumbers);
      for (float& number : numbers) number = normal(random);
    }
  }

  const std::vector<float>& Next() { return all_[next_++ % all_.size()]; }

 private:
  std::array<std::vector<float>, 256> all_;
  size_t next_ = 0;
};

void ReadRequest(benchmark::State& state) {
  const std::string text = RequestBody();
  InferBody reader;
  InferMessage message;
  for (auto _ : state) {
    std::string body;
    body.reserve(text.size() + kBodyPadding);
    body = text;
    if (!reader.Read(std::move(body), text.size(), kMessageBytes, &message).ok()) std::abort();
    benchmark::DoNotOptimize(message.inputs[0].payload.bytes);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(ReadRequest);

void ReadRequestByNlohmann(benchmark::State& state) {
  const std::string text = RequestBody();
  for (auto _ : state) {
    const nlohmann::json json = nlohmann::json::parse(text);
    std::vector<float> tensor;
    for (const nlohmann::json& number : json["inputs"][0]["data"]) tensor.push_back(number);
    benchmark::DoNotOptimize(tensor.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(ReadRequestByNlohmann);

void WriteAnswer(benchmark::State& state) {
  Embeddings embeddings;
  Answer answer;
  answer.outputs.push_back({"y", DataType::kFp32, {1, kAnswerNumbers}, {}});
  const InferBody request;
  InferReply reply;
  for (auto _ : state) {
    const auto* numbers = reinterpret_cast<const char*>(embeddings.Next().data());
    answer.outputs[0].bytes = absl::string_view(numbers, kAnswerNumbers * sizeof(float));
    if (!WriteInferReply({"m", "1", "7"}, answer, request, kMessageBytes, &reply).ok())
      std::abort();
    benchmark::DoNotOptimize(reply.json.data());
  }
}
BENCHMARK(WriteAnswer);

void WriteAnswerByNlohmann(benchmark::State& state) {
  Embeddings embeddings;
  for (auto _ : state) {
    nlohmann::json output = {{"name", "y"}, {"datatype", "FP32"}, {"shape", {1, kAnswerNumbers}}};
    output["data"] = embeddings.Next();
    const nlohmann::json answer = {
        {"model_name", "m"}, {"model_version", "1"}, {"id", "7"}, {"outputs", {output}}};
    benchmark::DoNotOptimize(answer.dump().data());
  }
}
BENCHMARK(WriteAnswerByNlohmann);

}  // namespace
}  // namespace mpsd
