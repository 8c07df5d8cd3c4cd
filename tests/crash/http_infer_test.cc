#include "tests/crash/http_infer.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace mpsd::crash {
namespace {

using nlohmann::json;

Call CallOf(uint64_t id, bool in_json) {
  Call call;
  call.id = id;
  call.rows = 2;
  call.timeout_ns = 5'000'000;
  call.in_json = in_json;
  return call;
}

std::string BodyOf(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

std::string AnswerTo(const Call& call, json output) {
  const json answer = {{"id", "c" + std::to_string(call.id)}, {"outputs", {std::move(output)}}};
  return answer.dump();
}

TEST(HttpInfer, ARequestInJsonBringsTheNumbers) {
  const Call call = CallOf(7, true);
  const std::string request = HttpInferRequest("m", PayloadPlan(), call);
  EXPECT_EQ(request.substr(0, request.find('\r')), "POST /v2/models/m/infer HTTP/1.1");
  const json message = json::parse(BodyOf(request));
  EXPECT_EQ(message["id"], "c7");
  EXPECT_EQ(message["parameters"]["timeout"], 5000);
  EXPECT_EQ(message["inputs"][0]["shape"], json({2, 16}));
  EXPECT_EQ(message["inputs"][0]["data"].size(), 32U);
  EXPECT_EQ(message["inputs"][0]["data"][16], 1);
}

TEST(HttpInfer, ABinaryRequestEndsWithThePayload) {
  const Call call = CallOf(7, false);
  const std::string body = BodyOf(HttpInferRequest("m", PayloadPlan(), call));
  const std::string payload = Payload(PayloadPlan(), call);
  ASSERT_GT(body.size(), payload.size());
  EXPECT_EQ(body.substr(body.size() - payload.size()), payload);
}

TEST(HttpInfer, WhatWasSentInJsonIsReadAsThePayload) {
  for (uint64_t id = 1; id <= 1000; ++id) {
    const Call call = CallOf(id, true);
    const json message = json::parse(BodyOf(HttpInferRequest("m", PayloadPlan(), call)));
    HttpReply reply{200, 0, AnswerTo(call, {{"data", message["inputs"][0]["data"]}})};
    reply.json_bytes = reply.body.size();
    const CallEnding ending = HttpInferEnding(reply);
    ASSERT_TRUE(ending.status.ok());
    EXPECT_EQ(ending.response.id(), "c" + std::to_string(id));
    EXPECT_EQ(ending.response.raw_output_contents(0), Payload(PayloadPlan(), call));
  }
}

TEST(HttpInfer, TensorsBehindTheJsonAreRead) {
  const Call call = CallOf(7, false);
  const std::string text = AnswerTo(call, {{"parameters", {{"binary_data_size", 4}}}});
  const CallEnding ending = HttpInferEnding({200, text.size(), text + "abcd"});
  ASSERT_TRUE(ending.status.ok());
  EXPECT_EQ(ending.response.raw_output_contents(0), "abcd");
}

TEST(HttpInfer, AnAnswerThatNobodyCanReadIsUnknown) {
  const Call call = CallOf(7, false);
  const std::string text = AnswerTo(call, {{"parameters", {{"binary_data_size", 4}}}});
  for (const HttpReply& reply :
       {HttpReply{200, text.size(), text + "abc"}, HttpReply{200, text.size(), text + "abcde"},
        HttpReply{200, text.size() + 9, text + "abcd"}, HttpReply{200, 2, "{}"},
        HttpReply{200, 0, ""}}) {
    EXPECT_EQ(HttpInferEnding(reply).status.error_code(), grpc::StatusCode::UNKNOWN) << reply.body;
  }
}

TEST(HttpInfer, AnErrorHasItsCodeAndText) {
  const std::string text = R"({"error":"[request id: c7] worker lost"})";
  const CallEnding ending = HttpInferEnding({503, text.size(), text});
  EXPECT_EQ(ending.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ending.status.error_message(), "[request id: c7] worker lost");
}

}  // namespace
}  // namespace mpsd::crash
