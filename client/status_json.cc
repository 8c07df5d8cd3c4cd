#include "client/status_json.h"

#include <google/protobuf/util/json_util.h>

#include <string>

#include "absl/status/status.h"
#include "client/wire.h"
#include "proto/control.pb.h"

namespace mpsd::client {

absl::StatusOr<DaemonStatus> ReadDaemonStatus(absl::string_view json) {
  control::v1::StatusReply reply;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto parsed =
      google::protobuf::util::JsonStringToMessage(std::string(json), &reply, options);
  if (!parsed.ok()) return absl::InternalError("the server's answer is no status of mpsd");
  return FromWire(reply);
}

}  // namespace mpsd::client
