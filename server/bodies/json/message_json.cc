#include "server/bodies/json/message_json.h"

#include <google/protobuf/descriptor.h>

#include <cmath>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/bodies/json/json_text.h"

namespace mpsd {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void PutMessage(const Message& message, std::string* out);

template <typename Number>
void PutNumber(Number number, std::string* out) {
  char text[kJsonNumberBytes];
  out->append(text, static_cast<size_t>(WriteJsonNumber(number, text) - text));
}

void PutReal(double number, std::string* out) {
  if (std::isfinite(number)) return PutNumber(number, out);
  out->append("null");
}

void PutText(const FieldDescriptor& field, const std::string& text, std::string* out) {
  const bool is_bytes = field.type() == FieldDescriptor::TYPE_BYTES;
  PutJsonText(is_bytes ? absl::Base64Escape(text) : text, out);
}

// A value without a name stays a number.
void PutEnum(const FieldDescriptor& field, int number, std::string* out) {
  const auto* const value = field.enum_type()->FindValueByNumber(number);
  if (value == nullptr) return PutNumber(number, out);
  PutJsonText(std::string(value->name()), out);
}

void PutElement(const Message& message, const FieldDescriptor& field, int index, std::string* out) {
  const Reflection& of = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return PutNumber(of.GetRepeatedInt32(message, &field, index), out);
    case FieldDescriptor::CPPTYPE_INT64:
      return PutNumber(of.GetRepeatedInt64(message, &field, index), out);
    case FieldDescriptor::CPPTYPE_UINT32:
      return PutNumber(of.GetRepeatedUInt32(message, &field, index), out);
    case FieldDescriptor::CPPTYPE_UINT64:
      return PutNumber(of.GetRepeatedUInt64(message, &field, index), out);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return PutReal(of.GetRepeatedDouble(message, &field, index), out);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return PutReal(of.GetRepeatedFloat(message, &field, index), out);
    case FieldDescriptor::CPPTYPE_BOOL:
      out->append(of.GetRepeatedBool(message, &field, index) ? "true" : "false");
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      return PutEnum(field, of.GetRepeatedEnumValue(message, &field, index), out);
    case FieldDescriptor::CPPTYPE_STRING:
      return PutText(field, of.GetRepeatedString(message, &field, index), out);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return PutMessage(of.GetRepeatedMessage(message, &field, index), out);
  }
}

// A field's value, or a map's key or value.
void PutSingle(const Message& message, const FieldDescriptor& field, std::string* out) {
  const Reflection& of = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return PutNumber(of.GetInt32(message, &field), out);
    case FieldDescriptor::CPPTYPE_INT64:
      return PutNumber(of.GetInt64(message, &field), out);
    case FieldDescriptor::CPPTYPE_UINT32:
      return PutNumber(of.GetUInt32(message, &field), out);
    case FieldDescriptor::CPPTYPE_UINT64:
      return PutNumber(of.GetUInt64(message, &field), out);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return PutReal(of.GetDouble(message, &field), out);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return PutReal(of.GetFloat(message, &field), out);
    case FieldDescriptor::CPPTYPE_BOOL:
      out->append(of.GetBool(message, &field) ? "true" : "false");
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      return PutEnum(field, of.GetEnumValue(message, &field), out);
    case FieldDescriptor::CPPTYPE_STRING:
      return PutText(field, of.GetString(message, &field), out);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return PutMessage(of.GetMessage(message, &field), out);
  }
}

void PutMap(const Message& message, const FieldDescriptor& field, std::string* out) {
  const Reflection& of = *message.GetReflection();
  const FieldDescriptor& key_field = *field.message_type()->map_key();
  std::map<std::string, const Message*> entries;
  for (int i = 0; i < of.FieldSize(message, &field); ++i) {
    const Message& entry = of.GetRepeatedMessage(message, &field, i);
    std::string key;
    PutSingle(entry, key_field, &key);
    const bool is_text = key_field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    entries[is_text ? key : absl::StrCat("\"", key, "\"")] = &entry;
  }
  out->push_back('{');
  for (const auto& [key, entry] : entries) {
    if (out->back() != '{') out->push_back(',');
    absl::StrAppend(out, key, ":");
    PutSingle(*entry, *field.message_type()->map_value(), out);
  }
  out->push_back('}');
}

void PutList(const Message& message, const FieldDescriptor& field, std::string* out) {
  out->push_back('[');
  const int size = message.GetReflection()->FieldSize(message, &field);
  for (int i = 0; i < size; ++i) {
    if (i > 0) out->push_back(',');
    PutElement(message, field, i, out);
  }
  out->push_back(']');
}

void PutMessage(const Message& message, std::string* out) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  bool is_first = true;
  out->push_back('{');
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.has_presence() && !message.GetReflection()->HasField(message, &field)) continue;
    if (!is_first) out->push_back(',');
    is_first = false;
    absl::StrAppend(out, "\"", std::string(field.name()), "\":");
    if (field.is_map()) {
      PutMap(message, field, out);
    } else if (field.is_repeated()) {
      PutList(message, field, out);
    } else {
      PutSingle(message, field, out);
    }
  }
  out->push_back('}');
}

}  // namespace

std::string MessageJson(const google::protobuf::Message& message) {
  std::string json;
  PutMessage(message, &json);
  return json;
}

}  // namespace mpsd
