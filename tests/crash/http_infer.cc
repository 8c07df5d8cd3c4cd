#include "tests/crash/http_infer.h"

#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/web/reply_status.h"
#include "nlohmann/json.hpp"
#include "proto/base/clock.h"
#include "tests/crash/call_source.h"

namespace mpsd::crash {
namespace {

using nlohmann::json;

json Numbers(const std::string& bytes) {
  json numbers = json::array();
  for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    float number = 0;
    std::memcpy(&number, bytes.data() + i, sizeof(number));
    numbers.push_back(static_cast<double>(number));
  }
  return numbers;
}

std::string Bytes(const json& numbers) {
  std::string bytes;
  for (const json& element : numbers) {
    const auto number = element.get<float>();
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  return bytes;
}

CallEnding Unreadable(const std::string& why) {
  return {{grpc::StatusCode::UNKNOWN, absl::StrCat("an answer that nobody can read: ", why)}, {}};
}

CallEnding ReadAnswer(const HttpReply& reply) {
  const json answer = json::parse(reply.body.substr(0, reply.json_bytes));
  std::string tensors = reply.body.substr(reply.json_bytes);
  CallEnding ending;
  ending.response.set_id(answer.at("id").get<std::string>());
  for (const json& output : answer.at("outputs")) {
    if (output.contains("data")) {
      ending.response.add_raw_output_contents(Bytes(output["data"]));
      continue;
    }
    const auto size = output.at("parameters").at("binary_data_size").get<size_t>();
    if (size > tensors.size()) return Unreadable("tensors that are cut");
    ending.response.add_raw_output_contents(tensors.substr(0, size));
    tensors.erase(0, size);
  }
  return tensors.empty() ? ending : Unreadable("bytes behind the tensors");
}

}  // namespace

std::string HttpInferRequest(const std::string& model, const PayloadPlan& plan, const Call& call) {
  std::string payload = Payload(plan, call);
  json input = {{"name", "x"}, {"datatype", "FP32"}, {"shape", {call.rows, plan.width}}};
  json message = {{"id", absl::StrCat("c", call.id)},
                  {"parameters", {{"timeout", call.timeout_ns / kNsPerUs}}}};
  if (call.in_json) {
    input["data"] = Numbers(payload);
    payload.clear();
  } else {
    input["parameters"] = {{"binary_data_size", payload.size()}};
    message["parameters"]["binary_data_output"] = true;
  }
  message["inputs"] = {std::move(input)};
  const std::string text = message.dump();
  const auto patience_s = static_cast<double>(call.timeout_ns + kBackstopNs) / kNsPerSecond;
  return absl::StrFormat(
      "POST /v2/models/%s/infer HTTP/1.1\r\nHost: localhost\r\nRequest-Timeout: %.3f\r\n"
      "Inference-Header-Content-Length: %d\r\nContent-Length: %d\r\n\r\n%s%s",
      model, patience_s, text.size(), text.size() + payload.size(), text, payload);
}

CallEnding HttpInferEnding(const HttpReply& reply) {
  const absl::Status status = client::ReplyStatus(reply.code, reply.body);
  if (!status.ok()) {
    return {{static_cast<grpc::StatusCode>(status.code()), std::string(status.message())}, {}};
  }
  if (reply.json_bytes > reply.body.size()) return Unreadable("its JSON is cut");
  try {
    return ReadAnswer(reply);
  } catch (const json::exception& error) {
    return Unreadable(error.what());
  }
}

}  // namespace mpsd::crash
