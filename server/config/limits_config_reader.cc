#include "server/config/limits_config_reader.h"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include "server/config/limit_keys.h"

namespace mpsd {
namespace {

constexpr uint64_t kBufferedMessages = 2;  // of the largest size

std::vector<std::string_view> Keys() {
  std::vector<std::string_view> keys;
  for (const LimitKey& limit : LimitKeys()) keys.push_back(limit.key);
  return keys;
}

bool IsAuto(const JsonObject& object, std::string_view key) {
  const nlohmann::json* value = object.Find(key);
  return value == nullptr || *value == "auto";
}

// The limit on messages was read before: its row is the first one.
void ReadBufferSize(const JsonObject& object, const LimitKey& limit, LimitsConfig* limits,
                    uint64_t* value) {
  *value = std::max(*value, kBufferedMessages * limits->message_bytes);
  if (IsAuto(object, limit.key)) return;
  object.GetBytes(limit.key, limits->message_bytes, limit.maximum, value);
}

// The members of the kinds; each is read in its own way.
struct MemberReader {
  const JsonObject& object;
  const LimitKey& limit;
  LimitsConfig* limits;

  void operator()(bool LimitsConfig::*member) const { object.Get(limit.key, &(limits->*member)); }
  void operator()(uint32_t LimitsConfig::*member) const {
    object.Get(limit.key, limit.minimum, limit.maximum, &(limits->*member));
  }
  void operator()(int64_t LimitsConfig::*member) const {
    object.GetDuration(limit.key, static_cast<int64_t>(limit.maximum), &(limits->*member));
  }
  void operator()(uint64_t LimitsConfig::*member) const {
    uint64_t* value = &(limits->*member);
    if (limit.kind == LimitKind::kBufferSize) return ReadBufferSize(object, limit, limits, value);
    if (limit.kind == LimitKind::kSizeOrAuto && IsAuto(object, limit.key)) return;
    object.GetBytes(limit.key, limit.minimum, limit.maximum, value);
  }
};

}  // namespace

void ReadLimitsConfig(const nlohmann::json& json, JsonErrors* errors, LimitsConfig* limits) {
  const std::vector<std::string_view> keys = Keys();
  const JsonObject object(json, "limits", keys, errors);
  for (const LimitKey& limit : LimitKeys()) {
    std::visit(MemberReader{object, limit, limits}, limit.member);
  }
}

}  // namespace mpsd
