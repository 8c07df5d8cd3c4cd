// ScriptRig: TorchScript models of a line or two, loaded as a worker loads them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "tests/worker/model/collecting_sink.h"
#include "tests/worker/model/test_device.h"
#include "worker/load/load_model.h"
#include "worker/model/model.h"
#include "worker/tools/model_maker.h"

namespace mpsd {

// Owned by a test. Lives on the test's main thread.
class ScriptRig : public testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }

  using Parameters = std::map<std::string, std::string>;

  absl::StatusOr<std::unique_ptr<Model>> LoadSource(const std::string& source,
                                                    const ModelSpec& spec,
                                                    const Parameters& parameters = {}) {
    const absl::Status made = MakeScript(source, "", path_);
    if (!made.ok()) return made;
    return LoadPath(spec, parameters);
  }
  absl::StatusOr<std::unique_ptr<Model>> LoadPath(const ModelSpec& spec,
                                                  const Parameters& parameters = {}) {
    LoadOrder order;
    order.model = "m";
    order.format = ModelFormat::kTorchScript;
    order.path = path_;
    order.device = TestDevice();
    order.precision = precision_;
    order.spec = spec;
    order.parameters = parameters;
    return LoadModel(order);
  }
  std::string LoadError(const std::string& source, const ModelSpec& spec,
                        const Parameters& parameters = {}) {
    const auto model = LoadSource(source, spec, parameters);
    return model.ok() ? "it loaded" : std::string(model.status().message());
  }

  // Makes one run on lane 0, on the calling thread.
  static absl::Status Run(Model* model, absl::Span<const InputTensor> inputs, uint32_t rows,
                          CollectingSink* sink) {
    absl::Status status = model->BindLane(0);
    if (status.ok()) status = model->Run(0, inputs, rows, sink);
    model->ReleaseLane(0);
    return status;
  }

  Precision precision_ = Precision::kAsSaved;
  const std::string path_ = testing::TempDir() + "mpsd_rig_" + std::to_string(getpid()) + ".pt";
};

inline ModelSpec SpecOf(Dims dims, uint32_t max_batch_size = 4,
                        DataType datatype = DataType::kFp32) {
  ModelSpec spec;
  spec.max_batch_size = max_batch_size;
  spec.inputs = {{"x", datatype, std::move(dims)}};
  return spec;
}

}  // namespace mpsd
