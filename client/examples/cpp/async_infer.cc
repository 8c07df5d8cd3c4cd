// Asks for many answers at once, and repeats requests that a busy server refused.
// Run with: mpsd-example-async-infer [ADDRESS] [MODEL] [COUNT]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/examples/cpp/example.h"

namespace {

using example::Deadline;
using example::Fail;
using example::Smallest;
using mpsd::DataType;
using mpsd::Dims;
using mpsd::client::Client;
using mpsd::client::InferReply;
using mpsd::client::InferRequest;

int InferMany(Client* client, const std::string& model, int count) {
  const auto metadata = client->GetModelMetadata(model, "", Deadline());
  if (!metadata.ok()) return Fail(metadata.status());
  const Dims shape = Smallest(metadata->inputs[0].shape);
  const std::vector<float> values(mpsd::ElementCount(shape).value_or(0), 0.5F);

  InferRequest request;
  request.model = model;
  request.inputs = {mpsd::client::MakeInput<float>(metadata->inputs[0].name, shape, values)};
  std::vector<std::future<absl::StatusOr<InferReply>>> futures;
  for (int i = 0; i < count; ++i) {
    request.id = std::to_string(i);
    futures.push_back(client->InferFuture(request, Deadline()));
  }
  for (auto& future : futures) {
    const absl::StatusOr<InferReply> reply = future.get();
    if (!reply.ok()) return Fail(reply.status());
  }
  std::printf("%d answers\n", count);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string address = argc > 1 ? argv[1] : "127.0.0.1:8001";
  mpsd::client::ConnectOptions options;
  options.retry.attempts = 8;
  const auto client = Client::Connect(address, Deadline(), options);
  if (!client.ok()) return Fail(client.status());
  return InferMany(client->get(), argc > 2 ? argv[2] : "mlp", argc > 3 ? std::atoi(argv[3]) : 64);
}
