#include "server/telemetry/log/otlp_message.h"

#include "absl/strings/str_cat.h"
#include "proto/encoding/protobuf_writer.h"

namespace mpsd {

// KeyValue {key:1 value:2}, where a value is AnyValue {string_value:1}.
void PutOtlpAttributes(uint32_t field, const OtlpAttributes& attributes, std::string* out) {
  for (const auto& [key, value] : attributes) {
    std::string any;
    PutText(1, value, &any);
    std::string attribute;
    PutText(1, key, &attribute);
    PutText(2, any, &attribute);
    PutText(field, attribute, out);
  }
}

// ExportTraceServiceRequest {resource_spans:1}, ResourceSpans {resource:1 scope_spans:2}, Resource
// {attributes:1}, ScopeSpans {scope:1 spans:2}, InstrumentationScope {name:1}.
std::string OtlpMessage(const OtlpAttributes& resource, absl::Span<const std::string> parts) {
  std::string scope;
  PutText(1, "mpsd", &scope);
  std::string scope_parts;
  PutText(1, scope, &scope_parts);
  for (const std::string& part : parts) absl::StrAppend(&scope_parts, part);
  std::string attributes;
  PutOtlpAttributes(1, resource, &attributes);
  std::string resource_parts;
  PutText(1, attributes, &resource_parts);
  PutText(2, scope_parts, &resource_parts);
  std::string message;
  PutText(1, resource_parts, &message);
  return message;
}

}  // namespace mpsd
