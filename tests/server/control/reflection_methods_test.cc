#include "server/control/reflection_methods.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/reflection.pb.h"

namespace mpsd {
namespace {

namespace pb = grpc::reflection::v1;

constexpr const char* kHere[] = {"unix:", "ipv4:127.0.0.1:40312", "ipv6:[::1]:40312"};
constexpr const char* kElsewhere[] = {"ipv4:192.0.2.1:40312", "ipv6:[2001:db8::1]:40312"};
constexpr const char* kMethods[] = {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                                    "/grpc.reflection.v1alpha.ServerReflection/"
                                    "ServerReflectionInfo"};

// How a caller is answered who asks for the list of services.
absl::Status Ask(const MethodTable::Method& method, const std::string& peer) {
  pb::ServerReflectionRequest request;
  request.set_list_services("*");
  std::string bytes;
  const absl::Status status = method.unary({peer}, request.SerializeAsString(), &bytes);
  pb::ServerReflectionResponse response;
  EXPECT_TRUE(response.ParseFromString(bytes));
  EXPECT_EQ(response.list_services_response().service_size() > 0, status.ok()) << peer;
  return status;
}

TEST(ReflectionMethods, OffNobodyFindsThem) {
  MethodTable table;
  AddReflectionMethods(ReflectionAccess::kOff, &table);
  for (const char* name : kMethods) EXPECT_EQ(table.Find(name), nullptr) << name;
}

TEST(ReflectionMethods, LocalAreForCallersOnThisHost) {
  MethodTable table;
  AddReflectionMethods(ReflectionAccess::kLocal, &table);
  for (const char* name : kMethods) {
    const MethodTable::Method* method = table.Find(name);
    ASSERT_NE(method, nullptr) << name;
    for (const char* peer : kHere) EXPECT_TRUE(Ask(*method, peer).ok()) << peer;
    for (const char* peer : kElsewhere) {
      EXPECT_EQ(Ask(*method, peer),
                absl::PermissionDeniedError("reflection is for callers on this host"));
    }
  }
}

TEST(ReflectionMethods, OnTheyAreForEverybody) {
  MethodTable table;
  AddReflectionMethods(ReflectionAccess::kOn, &table);
  for (const char* name : kMethods) {
    const MethodTable::Method* method = table.Find(name);
    ASSERT_NE(method, nullptr) << name;
    for (const char* peer : kHere) EXPECT_TRUE(Ask(*method, peer).ok()) << peer;
    for (const char* peer : kElsewhere) EXPECT_TRUE(Ask(*method, peer).ok()) << peer;
  }
}

}  // namespace
}  // namespace mpsd
