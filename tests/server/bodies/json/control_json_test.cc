#include "server/bodies/json/control_json.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>

#include "nlohmann/json.hpp"
#include "proto/inference.pb.h"
#include "server/bodies/json/message_json.h"

namespace mpsd {
namespace {

namespace pb = inference;
using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(MessageJson, PrintsDefaultsButNotWhatIsUnset) {
  pb::ModelConfig config;
  config.set_name("m");
  config.mutable_version_policy()->mutable_latest()->set_num_versions(1);
  pb::ModelInput* input = config.add_input();
  input->set_name("x");
  input->set_data_type(pb::TYPE_FP32);
  input->add_dims(-1);
  (*config.mutable_parameters())["b"].set_string_value("2");
  (*config.mutable_parameters())["a"].set_string_value("1");
  const Json printed = Json::parse(MessageJson(config));
  EXPECT_EQ(printed["max_batch_size"], 0);
  EXPECT_EQ(printed["platform"], "");
  EXPECT_EQ(printed["output"], Json::array());
  EXPECT_EQ(printed["metric_tags"], Json::object());
  EXPECT_EQ(printed["input"][0],
            Json::parse(R"({"name":"x","data_type":"TYPE_FP32","format":"FORMAT_NONE","dims":[-1],)"
                        R"("is_shape_tensor":false,"allow_ragged_batch":false,"optional":false,)"
                        R"("is_non_linear_format_io":false})"));
  EXPECT_EQ(printed["version_policy"], Json::parse(R"({"latest":{"num_versions":1}})"));
  EXPECT_FALSE(printed.contains("optimization"));
  EXPECT_FALSE(printed.contains("dynamic_batching"));
  EXPECT_THAT(MessageJson(config),
              HasSubstr(R"("parameters":{"a":{"string_value":"1"},"b":{"string_value":"2"}})"));
}

TEST(MessageJson, AnEnumsNumberWithoutANameStaysANumber) {
  pb::ModelInput input;
  input.set_data_type(static_cast<pb::DataType>(99));
  EXPECT_EQ(Json::parse(MessageJson(input))["data_type"], 99);
}

TEST(MessageJson, LargeIntegersAreNumbers) {
  pb::ModelStatisticsResponse response;
  pb::ModelStatistics* statistics = response.add_model_stats();
  statistics->set_inference_count(UINT64_MAX);
  statistics->mutable_inference_stats()->mutable_success()->set_ns(1);
  const Json printed = Json::parse(MessageJson(response))["model_stats"][0];
  EXPECT_EQ(printed["inference_count"].get<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(printed["inference_stats"]["success"], Json::parse(R"({"count":0,"ns":1})"));
  EXPECT_EQ(printed["batch_stats"], Json::array());
  EXPECT_FALSE(printed["inference_stats"].contains("queue"));
}

TEST(MessageJson, WritesEachKindOfField) {
  pb::ModelDynamicBatching batching;
  batching.add_preferred_batch_size(4);
  (*batching.mutable_priority_queue_policy())[7].set_timeout_action(pb::ModelQueuePolicy::DELAY);
  const Json printed = Json::parse(MessageJson(batching));
  EXPECT_EQ(printed["preferred_batch_size"], Json::array({4}));
  EXPECT_EQ(printed["priority_queue_policy"]["7"]["timeout_action"], "DELAY");
  pb::CudaSharedMemoryRegisterRequest request;
  request.set_raw_handle("\xff\x01");
  EXPECT_EQ(Json::parse(MessageJson(request))["raw_handle"], "/wE=");
  pb::InferTensorContents contents;
  contents.add_fp32_contents(0.1F);
  contents.add_fp64_contents(2);
  contents.add_fp64_contents(std::numeric_limits<double>::infinity());
  contents.add_bytes_contents("hi");
  EXPECT_THAT(MessageJson(contents),
              HasSubstr(R"("fp64_contents":[2.0,null],"bytes_contents":["aGk="])"));
  contents.Clear();
  contents.add_bool_contents(true);
  contents.add_bool_contents(false);
  contents.add_fp32_contents(0.5F);
  EXPECT_THAT(MessageJson(contents), HasSubstr(R"("bool_contents":[true,false],)"));
  EXPECT_THAT(MessageJson(contents), HasSubstr(R"("fp32_contents":[0.5],)"));
  EXPECT_EQ(MessageJson(pb::ServerLiveRequest()), "{}");
}

TEST(IndexBody, AsksForReadyModels) {
  pb::RepositoryIndexRequest request;
  EXPECT_TRUE(ReadIndexBody("", &request).ok());
  EXPECT_FALSE(request.ready());
  EXPECT_TRUE(ReadIndexBody(R"({"ready":true,"other":{"a":[1]}})", &request).ok());
  EXPECT_TRUE(request.ready());
  for (const char* body : {"x", "[]", R"({"ready":1})", R"({"ready":true}})", R"({"a":nul})"}) {
    EXPECT_EQ(ReadIndexBody(body, &request).code(), absl::StatusCode::kInvalidArgument) << body;
  }
}

TEST(LoadBody, HasParameters) {
  pb::RepositoryModelLoadRequest load;
  ASSERT_TRUE(
      ReadLoadBody(R"({"parameters":{"config":"{\"max_batch_size\":4}","file:1/a":"YQ=="}})", &load)
          .ok());
  EXPECT_EQ(load.parameters().at("config").string_param(), R"({"max_batch_size":4})");
  EXPECT_EQ(load.parameters().at("file:1/a").string_param(), "YQ==");
  pb::RepositoryModelUnloadRequest unload;
  ASSERT_TRUE(ReadUnloadBody(R"({"parameters":{"unload_dependents":false,"n":3}})", &unload).ok());
  EXPECT_EQ(unload.parameters().at("unload_dependents").parameter_choice_case(),
            pb::ModelRepositoryParameter::kBoolParam);
  EXPECT_EQ(unload.parameters().at("n").int64_param(), 3);
  EXPECT_FALSE(ReadUnloadBody(R"({"parameters":{"a":[1]}})", &unload).ok());
  EXPECT_FALSE(ReadUnloadBody(R"({"parameters":7})", &unload).ok());
}

TEST(TraceBody, ASettingIsATextAListOrNull) {
  pb::TraceSettingRequest request;
  ASSERT_TRUE(ReadTraceBody(R"({"trace_level":["TIMESTAMPS","X"],"trace_rate":"5",)"
                            R"("trace_count":null})",
                            &request)
                  .ok());
  EXPECT_THAT(request.settings().at("trace_level").value(), ElementsAre("TIMESTAMPS", "X"));
  EXPECT_THAT(request.settings().at("trace_rate").value(), ElementsAre("5"));
  EXPECT_THAT(request.settings().at("trace_count").value(), IsEmpty());
  EXPECT_FALSE(ReadTraceBody(R"({"trace_rate":5})", &request).ok());
  EXPECT_FALSE(ReadTraceBody(R"({"trace_level":[1]})", &request).ok());
}

TEST(TraceBody, IsAnsweredInTheSameForm) {
  pb::TraceSettingResponse response;
  (*response.mutable_settings())["trace_level"].add_value("TIMESTAMPS");
  (*response.mutable_settings())["trace_rate"].add_value("5");
  response.mutable_settings()->insert({"trace_file", {}});
  EXPECT_EQ(TraceJson(response),
            R"({"trace_file":"","trace_level":["TIMESTAMPS"],"trace_rate":"5"})");
}

TEST(LogBody, ASettingHasItsType) {
  pb::LogSettingsRequest request;
  ASSERT_TRUE(
      ReadLogBody(R"({"log_info":false,"log_verbose_level":2,"log_format":"default"})", &request)
          .ok());
  EXPECT_EQ(request.settings().at("log_info").parameter_choice_case(),
            pb::LogSettingsRequest::SettingValue::kBoolParam);
  EXPECT_EQ(request.settings().at("log_verbose_level").uint32_param(), 2u);
  EXPECT_EQ(request.settings().at("log_format").string_param(), "default");
  for (const char* value : {"-1", "4294967296", "1.5", "null", "[]"}) {
    const std::string body = std::string(R"({"log_verbose_level":)") + value + "}";
    EXPECT_EQ(ReadLogBody(body, &request).code(), absl::StatusCode::kInvalidArgument) << value;
  }
}

TEST(LogBody, IsAnsweredInTheSameForm) {
  pb::LogSettingsResponse response;
  (*response.mutable_settings())["log_info"].set_bool_param(false);
  (*response.mutable_settings())["log_verbose_level"].set_uint32_param(2);
  (*response.mutable_settings())["log_file"].set_string_param("");
  EXPECT_EQ(LogJson(response), R"({"log_file":"","log_info":false,"log_verbose_level":2})");
}

TEST(RegionBody, SystemMemoryHasAKeyAndASize) {
  pb::SystemSharedMemoryRegisterRequest request;
  ASSERT_TRUE(ReadRegionBody(R"({"key":"/k","offset":8,"byte_size":64})", &request).ok());
  EXPECT_EQ(request.key(), "/k");
  EXPECT_EQ(request.offset(), 8u);
  EXPECT_EQ(request.byte_size(), 64u);
  EXPECT_THAT(std::string(ReadRegionBody(R"({"byte_size":64})", &request).message()),
              HasSubstr("Shared memory register request has no 'key' field"));
  EXPECT_THAT(std::string(ReadRegionBody(R"({"key":"/k"})", &request).message()),
              HasSubstr("has no 'byte_size' field"));
  EXPECT_FALSE(ReadRegionBody("", &request).ok());
  EXPECT_FALSE(ReadRegionBody(R"({"key":"/k","byte_size":-1})", &request).ok());
}

TEST(RegionBody, DeviceMemoryHasAHandleInBase64) {
  pb::CudaSharedMemoryRegisterRequest request;
  ASSERT_TRUE(
      ReadRegionBody(R"({"raw_handle":{"b64":"/wE="},"device_id":1,"byte_size":64})", &request)
          .ok());
  EXPECT_EQ(request.raw_handle(), "\xff\x01");
  EXPECT_EQ(request.device_id(), 1);
  EXPECT_EQ(request.byte_size(), 64u);
  EXPECT_FALSE(ReadRegionBody(R"({"raw_handle":{"b64":"/wE="},"device_id":1})", &request).ok());
  EXPECT_FALSE(ReadRegionBody(R"({"raw_handle":{"b64":"!"},"byte_size":64})", &request).ok());
  EXPECT_FALSE(ReadRegionBody(R"({"raw_handle":"/wE=","byte_size":64})", &request).ok());
  EXPECT_FALSE(ReadRegionBody(R"({"byte_size":64})", &request).ok());
}

TEST(RegionsJson, IsAList) {
  pb::SystemSharedMemoryStatusResponse response;
  EXPECT_EQ(RegionsJson(response), "[]");
  for (const char* name : {"b", "a"}) {
    pb::SystemSharedMemoryStatusResponse::RegionStatus region;
    region.set_name(name);
    region.set_byte_size(4);
    (*response.mutable_regions())[name] = region;
  }
  EXPECT_EQ(RegionsJson(response), R"([{"name":"a","key":"","offset":0,"byte_size":4},)"
                                   R"({"name":"b","key":"","offset":0,"byte_size":4}])");
}

TEST(IndexJson, IsAList) {
  pb::RepositoryIndexResponse response;
  EXPECT_EQ(IndexJson(response), "[]");
  pb::RepositoryIndexResponse::ModelIndex* model = response.add_models();
  model->set_name("m");
  model->set_state("READY");
  EXPECT_EQ(IndexJson(response), R"([{"name":"m","version":"","state":"READY","reason":""}])");
}

}  // namespace
}  // namespace mpsd
