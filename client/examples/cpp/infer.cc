// Asks a running server for one answer of the demo model "mlp".
// Run with: mpsd-example-infer [ADDRESS] [MODEL] [CA_FILE TOKEN_FILE]
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "client/client.h"
#include "client/examples/cpp/example.h"

namespace {

using example::Fail;
using example::Smallest;
using mpsd::DataType;
using mpsd::Dims;
using mpsd::client::Client;
using mpsd::client::InferRequest;

// Leaves out the whitespace around the content.
std::string Content(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(stream), {});
  absl::StripAsciiWhitespace(&content);
  return content;
}

absl::Time Deadline() { return example::Deadline(5); }

// Sends one row of the first input: 0, 1/n, 2/n, ...
int Infer(Client* client, const std::string& model) {
  const auto metadata = client->GetModelMetadata(model, "", Deadline());
  if (!metadata.ok()) return Fail(metadata.status());
  if (metadata->inputs.size() != 1 || metadata->inputs[0].datatype != DataType::kFp32) {
    return Fail(absl::InvalidArgumentError("this example is for models with one FP32 input"));
  }
  const Dims shape = Smallest(metadata->inputs[0].shape);
  std::vector<float> values(mpsd::ElementCount(shape).value_or(0));
  std::iota(values.begin(), values.end(), 0.0F);
  for (float& value : values) value /= static_cast<float>(values.size());

  InferRequest request;
  request.model = model;
  request.id = "example";
  request.inputs = {mpsd::client::MakeInput<float>(metadata->inputs[0].name, shape, values)};
  const auto reply = client->Infer(request, Deadline());
  if (!reply.ok()) return Fail(reply.status());

  for (const auto& output : reply->outputs) {
    const auto answer = mpsd::client::Values<float>(output);
    if (!answer.ok()) return Fail(answer.status());
    std::printf("%s %s:", output.name.c_str(), mpsd::ShapeText(output.shape).c_str());
    for (const float value : *answer) std::printf(" %.4f", value);
    std::printf("\n");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string address = argc > 1 ? argv[1] : "127.0.0.1:8001";
  mpsd::client::ConnectOptions options;
  if (argc > 4) {
    options.tls = true;
    options.tls_ca = Content(argv[3]);
    options.token = Content(argv[4]);
  }
  const auto client = Client::Connect(address, Deadline(), options);
  if (!client.ok()) return Fail(client.status());
  return Infer(client->get(), argc > 2 ? argv[2] : "mlp");
}
