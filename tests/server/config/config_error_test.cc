// Each mistake that a config can hold, with the exact text and line that its operator reads.
#include <sys/un.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "server/config/config.h"
#include "tests/server/config/config_files.h"

namespace mpsd {
namespace {

// Room for a socket's path on this platform, without the final zero.
constexpr size_t kSocketPathBytes = sizeof(sockaddr_un::sun_path) - 1;

// The complaint about an address whose path has one byte too many.
std::string TooLong() {
  return absl::StrCat("' has a path of ", kSocketPathBytes + 1, " bytes; a socket's holds at most ",
                      kSocketPathBytes);
}

// `keys` are the last ones of a config that is whole otherwise; they begin on line 3.
std::string Error(const std::string& keys) {
  return ConfigFiles({"m.pt"}).Error(
      absl::StrCat("{\n\"models\": [{\"name\": \"m\", \"path\": \"m.pt\"}],\n", keys, "}"));
}

// `keys` are the last ones of a model whose name is "m"; they begin on line 3.
std::string ModelError(const std::string& keys) {
  return ConfigFiles({"m.pt"}).Error(
      absl::StrCat("{\"models\": [{\n\"name\": \"m\",\n\"path\": \"m.pt\", ", keys, "}]}"));
}

std::string ListenError(const std::string& grpc) {
  return Error("\"listen\": {\"plaintext\": true, \"grpc\": [\n" + grpc + "]}");
}

// The files that configs of the table name.
class MistakesTest : public testing::Test {
 protected:
  MistakesTest() {
    files_.WriteSecret("server.key", "");
    files_.WriteSecret("wrong", "\nx y");
    files_.WriteSecret("tokens", absl::StrCat("ops ", std::string(64, 'a'), "\n"));
  }

  // `block` is a case as it stands in the table.
  void Check(const std::string& config, const std::string& block) {
    std::vector<std::string> text, complaints;
    bool is_whole = true;  // false: the beginning of the complaint is given
    const std::vector<std::string> lines = absl::StrSplit(block, '\n', absl::SkipEmpty());
    for (const std::string& line : lines) {
      if (line[0] != '>') {
        text.push_back(line);
      } else if (line != "> ") {
        is_whole &= line[1] != '~';
        complaints.push_back("c.json:" + line.substr(line.find(' ') + 1));
      }
    }
    const std::string wanted = absl::StrJoin(complaints, "\n");
    const std::string error =
        files_.Error(absl::StrReplaceAll(config, {{"$", absl::StrJoin(text, "\n")}}));
    EXPECT_EQ(is_whole ? error : error.substr(0, wanted.size()), wanted) << block;
  }

  const ConfigFiles files_{"m.pt", "v.txt", "d/x", "e/config.json", "server.pem", "ca.pem", "open"};
};

TEST_F(MistakesTest, AreToldAsInTheTable) {
  const std::vector<std::string> sections =
      absl::StrSplit(ReadConfigFolder("../tests/server/config/mistakes.txt"), "\n\n@");
  ASSERT_GT(sections.size(), 5u);
  for (size_t i = 1; i < sections.size(); ++i) {
    const std::vector<std::string> blocks = absl::StrSplit(sections[i], "\n\n");
    ASSERT_GT(blocks.size(), 1u) << sections[i];
    const std::string config = blocks[0].substr(blocks[0].find('\n') + 1);
    for (size_t k = 1; k < blocks.size(); ++k) Check(config, blocks[k]);
  }
}

TEST(ConfigError, NoTextAndBytesThatAreNoText) {
  EXPECT_TRUE(ConfigFiles({}).Error("").starts_with("c.json:1: is not JSON: "));
  EXPECT_TRUE(ConfigFiles({}).Error("{\n\"\xff\": 1}").starts_with("c.json:2: is not JSON: "));
}

TEST(ConfigError, TwentyAreToldAndTheRestCounted) {
  std::string keys = "\"server_name\": \"a\"";
  for (int i = 100; i < 123; ++i) absl::StrAppend(&keys, ",\n\"z", i, "\": 1");
  const std::string error = Error(keys);
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 20);
  EXPECT_TRUE(error.ends_with("\nand 3 more")) << error;
}

TEST(ConfigError, TooManyModels) {
  std::string list = "1";
  for (int i = 0; i < 256; ++i) list += ",1";
  EXPECT_EQ(ConfigFiles({}).Error("{\"models\": [" + list + "]}"),
            "c.json:1: models: has 257 elements; at most 256 are allowed");
}

TEST(ConfigError, StateDirThatLeavesNoRoomForASocket) {
  const std::string dir = "/" + std::string(kSocketPathBytes - 10, 'd');
  EXPECT_EQ(Error("\"state_dir\": \"" + dir + "\""), "c.json:3: state_dir: 'unix:" + dir +
                                                         "/mpsd.sock" + TooLong() +
                                                         "; listen.grpc may name another");
  EXPECT_EQ(Error("\"state_dir\": \"" + dir.substr(0, dir.size() - 1) + "\""), "");
  EXPECT_EQ(Error("\"state_dir\": \"" + dir + "\", \"listen\": {\"grpc\": [\"localhost:1\"]}"), "");
}

TEST(ConfigError, Ports) {
  for (const char* port : {"", "65536", "-1", "x", "99999999999", " 1"}) {
    EXPECT_EQ(ListenError(absl::StrCat("\"a:", port, "\"")),
              absl::StrCat("c.json:4: listen.grpc[0]: 'a:", port, "' has the port '", port,
                           "'; a port is a number from 0 to 65535"));
  }
}

TEST(ConfigError, SocketPaths) {
  const std::string longest = "/" + std::string(kSocketPathBytes - 1, 'a');
  EXPECT_EQ(ListenError("\"unix:" + longest + "\""), "");
  EXPECT_EQ(ListenError("\"unix:" + longest + "a\""),
            "c.json:4: listen.grpc[0]: 'unix:/" + std::string(34, 'a') + "…" + TooLong());
}

TEST(ConfigError, SitesAndHosts) {
  for (const char* site : {"\"app.example\"", "\"https://a/b\"", "\"https://*.a\"", "\"\"", "1"}) {
    EXPECT_EQ(Error(std::string("\"listen\": {\"cors\": [\"*\", ") + site + "]}"),
              "c.json:3: listen.cors[1]: must be \"*\" or a site like 'https://app.example:8443'");
  }
  for (const char* name : {"\"a:80\"", "\"https://a\"", "\"*\"", "\"\"", "1"}) {
    EXPECT_EQ(Error(std::string("\"listen\": {\"hosts\": [\"a\", ") + name + "]}"),
              "c.json:3: listen.hosts[1]: must be a name like 'mpsd.example', without a port");
  }
}

TEST(ConfigError, HeadersOfTenants) {
  for (const char* header : {"", "X-Tenant", "x tenant", "x-bin", "authorization", "x-api-key"}) {
    EXPECT_EQ(Error(absl::StrCat("\"access\": {\"tenants\": {\"header\": \"", header, "\"}}")),
              "c.json:3: access.tenants.header: must be the name of a header: 1 to 64 of a-z, "
              "0-9, '-' and '_', and none of credentials")
        << header;
  }
}

TEST(ConfigError, ModelNames) {
  const auto error = [](const std::string& name) {
    return ConfigFiles({"m.pt"}).Error("{\"models\": [{\n\"name\": \"" + name +
                                       "\", \"path\": \"m.pt\"}]}");
  };
  EXPECT_EQ(error("aZ0._-"), "");
  EXPECT_EQ(error(std::string(128, 'a')), "");
  const std::string rule =
      "c.json:2: models[0].name: must be 1 to 128 letters, digits, '.', '_' or '-', a letter or "
      "digit first, not ";
  for (const char* name : {"", "-a", "../a", "a b"}) {
    EXPECT_EQ(error(name), absl::StrCat(rule, "'", name, "'"));
  }
  EXPECT_EQ(error(std::string(129, 'a')), rule + "'" + std::string(40, 'a') + "…'");
}

TEST(ConfigError, Devices) {
  const auto error = [](const std::string& device) {
    return ModelError("\"device\": \"" + device + "\"");
  };
  for (const char* device : {"", "gpu", "tpu:99999"}) {
    EXPECT_TRUE(error(device).starts_with(
        absl::StrCat("c.json:3: models[0].device: there is no '", device, "' here")));
  }
  std::string devices = "cuda:0";
  for (uint32_t i = 1; i < kMaxWorkers; ++i) absl::StrAppend(&devices, ",", i);
  EXPECT_EQ(error(devices), "");
  EXPECT_NE(error(absl::StrCat(devices, ",", kMaxWorkers)), "") << "no model has so many processes";
}

TEST(ConfigError, LargeParameters) {
  EXPECT_EQ(ModelError("\"parameters\": {\"a\": \"" + std::string(4097, 'x') + "\"}"),
            "c.json:3: models[0].parameters.a: a parameter's name is 1 to 128 bytes, its value at "
            "most 4096");
  std::string many = "\"p\": 1";
  for (int i = 0; i < 64; ++i) absl::StrAppend(&many, ", \"p", i, "\": 1");
  EXPECT_EQ(ModelError("\"parameters\": {" + many + "}"),
            "c.json:3: models[0].parameters: has 65 members; at most 64 are allowed");
}

}  // namespace
}  // namespace mpsd
