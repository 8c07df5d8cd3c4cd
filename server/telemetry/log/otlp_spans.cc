#include "server/telemetry/log/otlp_spans.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "proto/base/check.h"
#include "proto/base/string_views.h"
#include "proto/encoding/protobuf_writer.h"
#include "server/telemetry/log/log_line.h"
#include "server/telemetry/log/otlp_message.h"

namespace mpsd {
namespace {

using Json = nlohmann::ordered_json;

// The enums of opentelemetry.proto.trace.v1.
enum SpanKind { kInternal = 1, kServer = 2 };
enum StatusCode { kOk = 1, kError = 2 };

// REQUIRES: an even number of hexadecimal digits.
std::string BytesOf(absl::string_view digits) {
  std::string bytes;
  for (; !digits.empty(); digits.remove_prefix(2)) {
    uint32_t byte = 0;
    MPSD_CHECK(absl::SimpleHexAtoi(digits.substr(0, 2), &byte));
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

bool IsWhole(const EndedRequest& request, const TraceSpan& span) {
  return span.id == request.span->id;
}

SpanKind KindOf(const EndedRequest& request, const TraceSpan& span) {
  return IsWhole(request, span) && request.span->step.empty() ? kServer : kInternal;
}

StatusCode StatusOf(const EndedRequest& request) { return request.code == "OK" ? kOk : kError; }

// A step is no call.
OtlpAttributes AttributesOf(const EndedRequest& request) {
  OtlpAttributes attributes;
  if (request.span->step.empty()) attributes.emplace_back("rpc.system", "grpc");
  attributes.emplace_back("model_name", SpanText(View(request.model)));
  attributes.emplace_back("model_version", SpanText(View(request.version)));
  attributes.emplace_back("request_id", SpanText(View(request.id)));
  attributes.emplace_back("rpc.grpc.status", SpanText(View(request.code)));
  return attributes;
}

Json AttributesJson(const OtlpAttributes& attributes) {
  Json list = Json::array();
  for (const auto& [key, value] : attributes) {
    list.push_back({{"key", key}, {"value", {{"stringValue", value}}}});
  }
  return list;
}

Json SpanJson(const EndedRequest& request, const TraceSpan& span) {
  Json json;
  json["traceId"] = request.span->trace_id;
  json["spanId"] = span.id;
  if (!span.parent_id.empty()) json["parentSpanId"] = span.parent_id;
  json["name"] = span.name;
  json["kind"] = KindOf(request, span);
  json["startTimeUnixNano"] = absl::StrCat(span.begin_ns);
  json["endTimeUnixNano"] = absl::StrCat(span.end_ns);
  if (!IsWhole(request, span)) return json;
  json["attributes"] = AttributesJson(AttributesOf(request));
  json["status"] = {{"code", StatusOf(request)}};
  return json;
}

// The message Span; its fields have the numbers of opentelemetry.proto.trace.v1.
std::string SpanBytes(const EndedRequest& request, const TraceSpan& span) {
  std::string bytes;
  PutText(1, BytesOf(request.span->trace_id), &bytes);
  PutText(2, BytesOf(span.id), &bytes);
  PutText(4, BytesOf(span.parent_id), &bytes);
  PutText(5, span.name, &bytes);
  PutNumber(6, KindOf(request, span), &bytes);
  PutFixed64(7, static_cast<uint64_t>(span.begin_ns), &bytes);
  PutFixed64(8, static_cast<uint64_t>(span.end_ns), &bytes);
  if (!IsWhole(request, span)) return bytes;
  PutOtlpAttributes(9, AttributesOf(request), &bytes);
  std::string status;
  PutNumber(3, StatusOf(request), &status);
  PutText(15, status, &bytes);
  return bytes;
}

}  // namespace

std::string OtlpLine(const EndedRequest& request, const std::vector<TraceSpan>& spans) {
  Json list = Json::array();
  for (const TraceSpan& span : spans) list.push_back(SpanJson(request, span));
  Json scope_spans = Json::array();
  scope_spans.push_back({{"scope", {{"name", "mpsd"}}}, {"spans", std::move(list)}});
  Json resource;
  resource["attributes"] = AttributesJson({{"service.name", "mpsd"}});
  Json resource_spans = Json::array();
  resource_spans.push_back(
      {{"resource", std::move(resource)}, {"scopeSpans", std::move(scope_spans)}});
  Json line;
  line["resourceSpans"] = std::move(resource_spans);
  return OneLine(line);
}

std::string OtlpSpans(const EndedRequest& request, const std::vector<TraceSpan>& spans) {
  std::string fields;
  for (const TraceSpan& span : spans) PutText(2, SpanBytes(request, span), &fields);
  return fields;
}

}  // namespace mpsd
