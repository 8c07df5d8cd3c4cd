#include "server/models/host_survey.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace mpsd {
namespace {

TEST(HostSurvey, AutoIsTheFirstDeviceThatAWorkerNames) {
  HostFacts host;
  EXPECT_TRUE(
      ReadDevices(R"({"devices": ["cuda:0", "cuda:1", "cpu"], "runtime_kind": "stock"})", &host));
  EXPECT_EQ(host.auto_device, "cuda:0");
  EXPECT_EQ(host.cuda_devices, 2u);
  EXPECT_EQ(host.runtime_kind, RuntimeKind::kStock);
  EXPECT_TRUE(ReadDevices(R"({"devices": ["mps", "cpu"]})", &host));
  EXPECT_EQ(host.cuda_devices, 0u);
}

TEST(HostSurvey, AWorkerTellsTheAddressOfEachGpu) {
  HostFacts host;
  EXPECT_TRUE(ReadDevices(
      R"({"devices": ["cuda:0", "cuda:1", "cpu"], "gpu_addresses": ["0000:1B:00.0", 3]})", &host));
  EXPECT_EQ(host.gpu_addresses, (std::vector<std::string>{"0000:1B:00.0", ""}));
}

TEST(HostSurvey, AGpuThatIsPassedOverIsKnownWithItsReason) {
  HostFacts host;
  EXPECT_TRUE(ReadDevices(R"({"devices": ["cpu"], "passed_over": "cuda: no lib\n"})", &host));
  EXPECT_EQ(host.auto_device, "cpu");
  EXPECT_EQ(host.passed_over, "cuda: no lib\\n");
}

TEST(HostSurvey, WhatIsNoAnswerChangesNothing) {
  for (const char* line : {"", "terminate called", "{}", R"({"devices": []})",
                           R"({"devices": [3]})", R"({"devices": "cpu"})"}) {
    HostFacts host;
    EXPECT_FALSE(ReadDevices(line, &host)) << line;
    EXPECT_EQ(host.auto_device, "cpu");
  }
}

// Asking costs seconds of a start, so nobody asks for a model that says where it runs.
TEST(HostSurvey, OnlyModelsThatLeaveItOpenDependOnDevices) {
  ModelConfig model;
  for (const char* device : {"cpu", "cuda", "cuda:1", "cuda:0,1"}) {
    model.device = device;
    EXPECT_FALSE(DependsOnDevices(model, false)) << device;
    EXPECT_EQ(DependsOnDevices(model, true), model.device != "cpu") << device << ": its node";
  }
  for (const char* device : {"auto", "mps", "cuda:all"}) {
    model.device = device;
    model.format = ModelFormat::kTorchScript;
    EXPECT_TRUE(DependsOnDevices(model, false)) << device;
    model.format = ModelFormat::kSynthetic;
    EXPECT_FALSE(DependsOnDevices(model, true)) << device;
  }
}

TEST(HostSurvey, AFolderHasTheBytesOfItsWeightFiles) {
  const std::filesystem::path folder =
      testing::TempDir() + "mpsd_host_survey_folder_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "model-00001-of-00002.safetensors") << "12345";
  std::ofstream(folder / "model-00002-of-00002.safetensors") << "123";
  std::ofstream(folder / "tokenizer.json") << "1234567";
  std::vector<ModelConfig> models(2);
  models[0].path = folder;
  models[1].path = "/nowhere/folder";
  std::ofstream(folder / "pytorch_model.bin") << "1234567";
  EXPECT_EQ(FileBytes(models), (std::vector<uint64_t>{8, 0}));
  std::filesystem::remove(folder / "model-00001-of-00002.safetensors");
  std::filesystem::remove(folder / "model-00002-of-00002.safetensors");
  std::ofstream(folder / "training_args.bin") << "1";
  EXPECT_EQ(FileBytes(models), (std::vector<uint64_t>{7, 0}));
  std::filesystem::remove_all(folder);
}

TEST(HostSurvey, AModelWithoutAFileHasNoBytes) {
  std::vector<ModelConfig> models(2);
  models[0].path = testing::TempDir() + "mpsd_host_survey_" + std::to_string(getpid());
  models[1].path = "/nowhere/model.pt";
  std::ofstream(models[0].path) << "12345";
  EXPECT_EQ(FileBytes(models), (std::vector<uint64_t>{5, 0}));
  std::remove(models[0].path.c_str());
}

}  // namespace
}  // namespace mpsd
