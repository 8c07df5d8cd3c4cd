// Measures reading a ModelInferRequest with one input of raw contents.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "proto/inference.pb.h"
#include "server/bodies/grpc/request_wire.h"

namespace mpsd {
namespace {

constexpr uint64_t kMostBytes = 64 << 20;

inference::ModelInferRequest RequestOf(int64_t input_bytes) {
  inference::ModelInferRequest request;
  request.set_model_name("identity");
  request.set_id("seventeen");
  auto* input = request.add_inputs();
  input->set_name("INPUT0");
  input->set_datatype("FP32");
  input->add_shape(1);
  input->add_shape(input_bytes / static_cast<int64_t>(sizeof(float)));
  request.add_raw_input_contents(std::string(static_cast<size_t>(input_bytes), 'x'));
  return request;
}

void ReadWire(benchmark::State& state) {
  const std::string bytes = RequestOf(state.range(0)).SerializeAsString();
  RequestWire wire;
  InferMessage message;
  for (auto _ : state) {
    if (!wire.Read(bytes, kMostBytes, &message).ok()) std::abort();
    benchmark::DoNotOptimize(message.inputs[0].payload.bytes);
  }
}
BENCHMARK(ReadWire)->Arg(1024)->Arg(602112);

void ReadWireByProtobuf(benchmark::State& state) {
  const std::string bytes = RequestOf(state.range(0)).SerializeAsString();
  inference::ModelInferRequest request;
  for (auto _ : state) {
    if (!request.ParseFromString(bytes)) std::abort();
    benchmark::DoNotOptimize(request.raw_input_contents(0).data());
  }
}
BENCHMARK(ReadWireByProtobuf)->Arg(1024)->Arg(602112);

}  // namespace
}  // namespace mpsd
