// Passes an input to a server on this host, and takes its output, in shared memory. The server must
// accept such memory: "limits": {"client_shared_memory": "64MiB"}.
// Run with: mpsd-example-shared-memory [ADDRESS] [MODEL]
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/examples/cpp/example.h"
#include "client/shared_region.h"

namespace {

using example::Deadline;
using example::Fail;
using example::Smallest;
using mpsd::DataType;
using mpsd::Dims;
using mpsd::client::Client;
using mpsd::client::InferInput;
using mpsd::client::InferRequest;
using mpsd::client::SharedRegion;

int Infer(Client* client, const std::string& model) {
  constexpr uint64_t kOutputBytes = 1 << 20;
  const auto metadata = client->GetModelMetadata(model, "", Deadline());
  if (!metadata.ok()) return Fail(metadata.status());
  const Dims shape = Smallest(metadata->inputs[0].shape);
  const std::vector<float> values(mpsd::ElementCount(shape).value_or(0), 0.5F);
  const uint64_t input_bytes = values.size() * sizeof(float);

  // The input comes first, the output after it.
  const auto region =
      SharedRegion::Create(client, "example", input_bytes + kOutputBytes, Deadline());
  if (!region.ok()) return Fail(region.status());
  std::memcpy((*region)->bytes().data(), values.data(), input_bytes);

  InferRequest request;
  request.model = model;
  InferInput& input = request.inputs.emplace_back();
  input.name = metadata->inputs[0].name;
  input.datatype = DataType::kFp32;
  input.shape = shape;
  input.range = (*region)->Range(0, input_bytes);
  const std::string output = metadata->outputs[0].name;
  request.outputs = {output};
  request.output_ranges[output] = (*region)->Range(input_bytes, kOutputBytes);
  const auto reply = client->Infer(request, Deadline());
  if (!reply.ok()) return Fail(reply.status());

  const auto& range = reply->outputs[0].range;
  float first = 0;
  std::memcpy(&first, (*region)->bytes().data() + range.offset, sizeof(first));
  std::printf("%s %s in %llu bytes of shared memory: %.4f ...\n", output.c_str(),
              mpsd::ShapeText(reply->outputs[0].shape).c_str(),
              static_cast<unsigned long long>(range.bytes), first);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = Client::Connect(argc > 1 ? argv[1] : "127.0.0.1:8001", Deadline());
  if (!client.ok()) return Fail(client.status());
  return Infer(client->get(), argc > 2 ? argv[2] : "mlp");
}
