// MessageJson: a protobuf message as the JSON that Triton's HTTP clients read.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace mpsd {

// Protobuf's own printer writes 64-bit integers as strings; here they are numbers, since clients
// calculate with them.
//
//   a number, string, bool or enum   always there, 0, "" and false too; an enum by its name
//
//   a list, a map                    always there, [] and {} too; a map is sorted by its keys
//   a message, a member of a oneof   there if set
//   bytes                            base64
//
// REQUIRES: texts are UTF-8, as protobuf's are. Pure.
std::string MessageJson(const google::protobuf::Message& message);

}  // namespace mpsd
