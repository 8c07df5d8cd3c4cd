// Sends several requests over one stream, and takes their answers meanwhile.
// Run with: mpsd-example-stream [ADDRESS] [MODEL]
#include <cstdio>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/examples/cpp/example.h"
#include "client/infer_stream.h"

namespace {

using example::Deadline;
using example::Fail;
using example::Smallest;
using mpsd::Dims;
using mpsd::client::Client;
using mpsd::client::InferRequest;
using mpsd::client::InferStream;
using mpsd::client::StreamReply;

void Print(const StreamReply& reply) {
  if (reply.reply.ok()) {
    std::printf("%s: %zu outputs\n", reply.id.c_str(), reply.reply->outputs.size());
  } else {
    std::printf("%s: %s\n", reply.id.c_str(), std::string(reply.reply.status().message()).c_str());
  }
}

int Stream(Client* client, const std::string& model) {
  const auto metadata = client->GetModelMetadata(model, "", Deadline());
  if (!metadata.ok()) return Fail(metadata.status());
  const Dims shape = Smallest(metadata->inputs[0].shape);
  const std::vector<float> values(mpsd::ElementCount(shape).value_or(0), 0.5F);

  InferRequest request;
  request.inputs = {mpsd::client::MakeInput<float>(metadata->inputs[0].name, shape, values)};
  const auto stream = InferStream::Open(client, Deadline(), Print);
  for (const std::string& name : {model, std::string("nobody"), model}) {
    request.model = name;
    request.id = "for " + name;
    if (absl::Status status = stream->Send(request); !status.ok()) return Fail(status);
  }
  const absl::Status end = stream->Finish();
  return end.ok() ? 0 : Fail(end);
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = Client::Connect(argc > 1 ? argv[1] : "127.0.0.1:8001", Deadline());
  if (!client.ok()) return Fail(client.status());
  return Stream(client->get(), argc > 2 ? argv[2] : "mlp");
}
