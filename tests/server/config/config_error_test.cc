// Each mistake that a config can hold, with the exact text and line that its operator reads.
#include <sys/un.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
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
  const ConfigFiles files({"m.pt", "v.txt"});
  return files.Error(
      absl::StrCat("{\n\"models\": [{\"name\": \"m\", \"path\": \"m.pt\"}],\n", keys, "}"));
}

// `keys` are the last ones of a model whose name is "m"; they begin on line 3.
std::string ModelError(const std::string& keys) {
  const ConfigFiles files({"m.pt", "v.txt"});
  return files.Error(absl::StrCat("{\"models\": [{\n\"name\": \"m\",\n", keys, "}]}"));
}

std::string ModelErrorWithPath(const std::string& keys) {
  return ModelError("\"path\": \"m.pt\", " + keys);
}

std::string ListenError(const std::string& grpc) {
  return Error("\"listen\": {\"plaintext\": true, \"grpc\": [\n" + grpc + "]}");
}

TEST(ConfigError, SyntaxErrorHasItsLine) {
  const std::string error = ConfigFiles({}).Error("{\n\"models\": [],\n}");
  EXPECT_EQ(error,
            "c.json:3: is not JSON: syntax error while parsing object key - unexpected '}'; "
            "expected string literal");
}

TEST(ConfigError, SyntaxErrorAtTheEndOfTheText) {
  const std::string error = ConfigFiles({}).Error("{\n\"models\": [\n");
  EXPECT_TRUE(error.starts_with("c.json:3: is not JSON: syntax error while parsing ")) << error;
  EXPECT_TRUE(ConfigFiles({}).Error("").starts_with("c.json:1: is not JSON: "));
}

TEST(ConfigError, NumberBeyondAllBounds) {
  const std::string error = ConfigFiles({}).Error("{\n\"models\": 1e999}");
  EXPECT_EQ(error, "c.json:2: is not JSON: number overflow parsing '1e999'");
}

TEST(ConfigError, BytesThatAreNoText) {
  EXPECT_TRUE(ConfigFiles({}).Error("{\n\"\xff\": 1}").starts_with("c.json:2: is not JSON: "));
}

TEST(ConfigError, DocumentIsNoObject) {
  EXPECT_EQ(ConfigFiles({}).Error("\n[]"), "c.json:2: must be an object, not a list");
}

TEST(ConfigError, UnknownKeyWithANearOne) {
  EXPECT_EQ(Error("\"serer_name\": 1"),
            "c.json:3: serer_name: unknown key; did you mean 'server_name'?");
  EXPECT_EQ(ModelErrorWithPath("\"batching\": {\n\"max_dleay\": \"1ms\"}"),
            "c.json:4: models[0].batching.max_dleay: unknown key; did you mean 'max_delay'?");
}

TEST(ConfigError, UnknownKeyThatBelongsALevelDeeper) {
  EXPECT_EQ(Error("\"grpc\": 1"), "c.json:3: grpc: unknown key; did you mean 'listen.grpc'?");
  EXPECT_EQ(Error("\"messages\": 1"),
            "c.json:3: messages: unknown key; did you mean 'limits.message'?");
  EXPECT_EQ(ModelErrorWithPath("\"max_dleay\": \"1ms\""),
            "c.json:3: models[0].max_dleay: unknown key; did you mean 'batching.max_delay'?");
  EXPECT_EQ(ModelErrorWithPath("\"lanes\": 1"),
            "c.json:3: models[0].lanes: unknown key; did you mean 'placement.lanes'?");
}

TEST(ConfigError, UnknownKeyWithoutANearOne) {
  EXPECT_EQ(Error("\"log\": {\n\"zzz\": 1}"),
            "c.json:4: log.zzz: unknown key; the keys here are level, file, requests");
}

TEST(ConfigError, UnknownKeyThatIsNoWord) {
  EXPECT_EQ(Error("\"log\": {\"a\\n.b\": 1}"),
            "c.json:3: log['a\\n.b']: unknown key; the keys here are level, file, requests");
}

TEST(ConfigError, KeyThatStandsTwice) {
  EXPECT_EQ(Error("\"server_name\": \"a\",\n\n\"server_name\": \"b\""),
            "c.json:3: server_name: stands again on line 5");
}

TEST(ConfigError, SeveralAreToldTogetherInTheOrderOfTheirLines) {
  EXPECT_EQ(Error("\"server_name\": 1,\n\"log\": {\"level\": 2},\n\"listen\": 3"),
            "c.json:3: server_name: must be a string, not a number\n"
            "c.json:4: log.level: must be a string, not a number\n"
            "c.json:5: listen: must be an object, not a number");
}

TEST(ConfigError, TwentyAreToldAndTheRestCounted) {
  std::string keys = "\"server_name\": \"a\"";
  for (int i = 100; i < 123; ++i) absl::StrAppend(&keys, ",\n\"z", i, "\": 1");
  const std::string error = Error(keys);
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 20);
  EXPECT_TRUE(error.ends_with("\nand 3 more")) << error;
}

TEST(ConfigError, NoModels) {
  EXPECT_EQ(ConfigFiles({}).Error("{}"), "c.json:1: 'models' is missing");
  EXPECT_EQ(ConfigFiles({}).Error("{\n\"models\": {}}"),
            "c.json:2: models: must be a list, not an object");
}

TEST(ConfigError, TooManyModels) {
  std::string list = "1";
  for (int i = 0; i < 256; ++i) list += ",1";
  EXPECT_EQ(ConfigFiles({}).Error("{\"models\": [" + list + "]}"),
            "c.json:1: models: has 257 elements; at most 256 are allowed");
}

TEST(ConfigError, ModelIsNoObject) {
  EXPECT_EQ(ConfigFiles({}).Error("{\"models\": [\n\"m\"]}"),
            "c.json:2: models[0]: must be an object, not a string");
}

TEST(ConfigError, ServerName) {
  EXPECT_EQ(Error("\"server_name\": \"\""),
            "c.json:3: server_name: must be 1 to 128 letters, digits, '.', '_' or '-', a letter or "
            "digit first, not ''");
  EXPECT_EQ(Error("\"server_version\": \"1 0\""),
            "c.json:3: server_version: must be 1 to 128 letters, digits, '.', '_' or '-', a letter "
            "or digit first, not '1 0'");
}

TEST(ConfigError, StateDirThatLeavesNoRoomForASocket) {
  const std::string dir = "/" + std::string(kSocketPathBytes - 10, 'd');
  EXPECT_EQ(Error("\"state_dir\": \"" + dir + "\""), "c.json:3: state_dir: 'unix:" + dir +
                                                         "/mpsd.sock" + TooLong() +
                                                         "; listen.grpc may name another");
  EXPECT_EQ(Error("\"state_dir\": \"" + dir.substr(0, dir.size() - 1) + "\""), "");
  EXPECT_EQ(Error("\"state_dir\": \"" + dir + "\", \"listen\": {\"grpc\": [\"localhost:1\"]}"), "");
}

TEST(ConfigError, StateDir) {
  EXPECT_EQ(Error("\"state_dir\": \"\""), "c.json:3: state_dir: must name a folder");
  EXPECT_EQ(Error("\"state_dir\": null"), "c.json:3: state_dir: must be a string, not null");
}

TEST(ConfigError, AddressWithoutAPort) {
  EXPECT_EQ(ListenError("\"localhost\""),
            "c.json:4: listen.grpc[0]: 'localhost' has no port; it must be host:port, [v6]:port or "
            "unix:path");
  EXPECT_EQ(ListenError("\"[::1]\""),
            "c.json:4: listen.grpc[0]: '[::1]' has no port; it must be host:port, [v6]:port or "
            "unix:path");
  EXPECT_EQ(Error("\"listen\": {\"http\": \"x\"}"),
            "c.json:3: listen.http: 'x' has no port; it must be host:port, [v6]:port or unix:path");
}

TEST(ConfigError, PortBounds) {
  EXPECT_EQ(ListenError("\"a:0\", \"a:65535\""), "");
  for (const char* port : {"", "65536", "-1", "x", "99999999999", " 1"}) {
    EXPECT_EQ(ListenError(absl::StrCat("\"a:", port, "\"")),
              absl::StrCat("c.json:4: listen.grpc[0]: 'a:", port, "' has the port '", port,
                           "'; a port is a number from 0 to 65535"));
  }
}

TEST(ConfigError, Hosts) {
  EXPECT_EQ(ListenError("\"a-b.c:1\", \"[fe80::1]:1\""), "");
  EXPECT_EQ(ListenError("\":80\""),
            "c.json:4: listen.grpc[0]: ':80' has no host; 0.0.0.0 stands for all of them");
  EXPECT_EQ(ListenError("\"::1:80\""),
            "c.json:4: listen.grpc[0]: '::1:80' has an IPv6 address, which must stand in brackets");
  EXPECT_EQ(ListenError("\"[1.2.3.4]:80\""),
            "c.json:4: listen.grpc[0]: '[1.2.3.4]:80' has no IPv6 address in its brackets");
  EXPECT_EQ(ListenError("\"[:80\""),
            "c.json:4: listen.grpc[0]: '[:80' has no IPv6 address in its brackets");
  EXPECT_EQ(ListenError("\"a b:80\""),
            "c.json:4: listen.grpc[0]: 'a b:80' has a host that is neither a name nor an address");
}

TEST(ConfigError, SocketPaths) {
  const std::string longest = "/" + std::string(kSocketPathBytes - 1, 'a');
  EXPECT_EQ(ListenError("\"unix:" + longest + "\""), "");
  EXPECT_EQ(ListenError("\"unix:" + longest + "a\""),
            "c.json:4: listen.grpc[0]: 'unix:/" + std::string(34, 'a') + "…" + TooLong());
  EXPECT_EQ(ListenError("\"unix:\""), "c.json:4: listen.grpc[0]: 'unix:' has no path");
  for (const char* site : {"\"app.example\"", "\"https://a/b\"", "\"https://*.a\"", "\"\"", "1"}) {
    EXPECT_EQ(Error(std::string("\"listen\": {\"cors\": [\"*\", ") + site + "]}"),
              "c.json:3: listen.cors[1]: must be \"*\" or a site like 'https://app.example:8443'");
  }
  for (const char* name : {"\"a:80\"", "\"https://a\"", "\"*\"", "\"\"", "1"}) {
    EXPECT_EQ(Error(std::string("\"listen\": {\"hosts\": [\"a\", ") + name + "]}"),
              "c.json:3: listen.hosts[1]: must be a name like 'mpsd.example', without a port");
  }
  EXPECT_EQ(Error("\"listen\": {\"http\": [\"[::1]:1\", 2]}"),
            "c.json:3: listen.http[1]: must be an address like '127.0.0.1:8001', not a number");
}

TEST(ConfigError, AddressIsNoString) {
  EXPECT_EQ(ListenError("8001"),
            "c.json:4: listen.grpc[0]: must be an address like '127.0.0.1:8001', not a number");
  EXPECT_EQ(Error("\"listen\": {\"grpc\": \"a:1\"}"),
            "c.json:3: listen.grpc: must be a list, not a string");
}

TEST(ConfigError, NoAddress) {
  EXPECT_EQ(Error("\"listen\": {\"grpc\": []}"),
            "c.json:3: listen.grpc: must hold at least one address");
}

TEST(ConfigError, AddressThatStandsTwice) {
  EXPECT_EQ(ListenError("\"a:1\",\n\"a:1\""), "c.json:5: listen.grpc[1]: stands twice");
  EXPECT_EQ(Error("\"listen\": {\"grpc\": [\"localhost:1\"],\n\"http\": \"localhost:1\"}"),
            "c.json:4: listen.http: is an address of grpc too");
  EXPECT_EQ(Error("\"listen\": {\"http\": [\"[::1]:1\", \"[::1]:1\"]}"),
            "c.json:3: listen.http[1]: stands twice");
  EXPECT_EQ(ListenError("\"127.0.0.1:8002\""), "c.json:3: listen.http: is an address of grpc too");
}

TEST(ConfigError, Sizes) {
  EXPECT_EQ(Error("\"limits\": {\"message\": 64}"),
            "c.json:3: limits.message: must be a size like '64MiB', not a number");
  EXPECT_EQ(Error("\"limits\": {\"message\": \"64\"}"),
            "c.json:3: limits.message: '64' has no unit; it must be a size like '64MiB' (B, KiB, "
            "MiB, GiB, TiB, kB, MB, GB, TB)");
  EXPECT_EQ(Error("\"limits\": {\"message\": \"64ms\"}"),
            "c.json:3: limits.message: '64ms' must be a size like '64MiB' (B, KiB, MiB, GiB, TiB, "
            "kB, MB, GB, TB)");
  EXPECT_EQ(Error("\"limits\": {\"message\": \"1B\"}"),
            "c.json:3: limits.message: must be from 1 KiB to 2 GiB, not '1B'");
  EXPECT_EQ(Error("\"limits\": {\"shared_memory\": \"1MiB\"}"),
            "c.json:3: limits.shared_memory: must be from 16 MiB to 16 TiB, not '1MiB'");
  EXPECT_EQ(Error("\"limits\": {\"shared_memory\": \"auto\"}"), "");
  EXPECT_EQ(Error("\"limits\": {\"buffered\": \"auto\"}"), "");
  EXPECT_EQ(Error("\"limits\": {\"buffered\": \"63MiB\"}"),
            "c.json:3: limits.buffered: must be from 64 MiB to 16 TiB, not '63MiB'");
}

TEST(ConfigError, MessagesStayWithinGrpcsBound) {
  EXPECT_EQ(Error("\"limits\": {\"message\": \"2147483647B\"}"), "");
  EXPECT_NE(Error("\"limits\": {\"message\": \"2GiB\"}"), "");
}

TEST(ConfigError, Durations) {
  EXPECT_EQ(Error("\"limits\": {\"lame_duck\": 5}"),
            "c.json:3: limits.lame_duck: must be a duration like '500us', not a number");
  EXPECT_EQ(Error("\"limits\": {\"lame_duck\": \"5\"}"),
            "c.json:3: limits.lame_duck: '5' has no unit; it must be a duration like '500us' (ns, "
            "us, ms, s, m, h)");
  EXPECT_EQ(Error("\"limits\": {\"drain_timeout\": \"5MiB\"}"),
            "c.json:3: limits.drain_timeout: '5MiB' must be a duration like '500us' (ns, us, ms, "
            "s, m, h)");
  EXPECT_EQ(Error("\"limits\": {\"drain_timeout\": \"1h\"}"), "");
  EXPECT_EQ(Error("\"limits\": {\"drain_timeout\": \"61m\"}"),
            "c.json:3: limits.drain_timeout: must be at most 3600s, not '61m'");
  EXPECT_EQ(ModelErrorWithPath("\"batching\": {\"max_delay\": \"11s\"}"),
            "c.json:3: models[0].batching.max_delay: must be at most 10s, not '11s'");
}

TEST(ConfigError, LogLevel) {
  EXPECT_EQ(Error("\"log\": {\"level\": \"warning\"}"),
            "c.json:3: log.level: there is no 'warning' here; did you mean 'warn'?");
  EXPECT_EQ(
      Error("\"log\": {\"level\": \"loud\"}"),
      "c.json:3: log.level: there is no 'loud' here; the choices are debug, info, warn, error");
}

TEST(ConfigError, ModelWithoutAName) {
  EXPECT_EQ(ConfigFiles({"m.pt"}).Error("{\"models\": [\n{\"path\": \"m.pt\"}]}"),
            "c.json:2: models[0]: 'name' is missing");
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
  EXPECT_EQ(error(""), rule + "''");
  EXPECT_EQ(error("-a"), rule + "'-a'");
  EXPECT_EQ(error("../a"), rule + "'../a'");
  EXPECT_EQ(error("a b"), rule + "'a b'");
  EXPECT_EQ(error(std::string(129, 'a')), rule + "'" + std::string(40, 'a') + "…'");
}

TEST(ConfigError, ModelNameThatStandsTwice) {
  EXPECT_EQ(ConfigFiles({"m.pt"}).Error("{\"models\": [{\"name\": \"m\", \"path\": \"m.pt\"},\n"
                                        "{\"path\": \"m.pt\",\n\"name\": \"m\"}]}"),
            "c.json:3: models[1].name: there is another model 'm'");
}

TEST(ConfigError, ModelWithoutAPath) {
  EXPECT_EQ(ModelError("\"device\": \"cpu\""), "c.json:1: models[0]: 'path' is missing");
  EXPECT_EQ(ModelError("\"path\": \"\""), "c.json:3: models[0].path: must name a file or folder");
  EXPECT_EQ(ModelError("\"path\": 1"), "c.json:3: models[0].path: must be a string, not a number");
}

TEST(ConfigError, ModelFileThatIsNotThere) {
  const ConfigFiles files({"d/x"});
  const std::string text = "{\"models\": [{\"name\": \"m\", \"format\": \"aoti\",\n\"path\": ";
  const std::string begin = files.folder() + "/c.json:2: models[0].path: ";
  EXPECT_EQ(files.Parse(text + "\"n.pt\"}]}").status().message(),
            begin + "there is no file '" + files.folder() + "/n.pt'");
  EXPECT_EQ(files.Parse(text + "\"d\"}]}").status().message(),
            begin + "'" + files.folder() + "/d' is not a file");
}

TEST(ConfigError, FormatThatThePathDoesNotTell) {
  EXPECT_EQ(ModelError("\"path\": \"v.txt\""),
            "c.json:3: models[0].path: 'v.txt' ends in neither .pt nor .pt2; say 'format' besides");
}

TEST(ConfigError, UnknownFormat) {
  EXPECT_EQ(ModelErrorWithPath("\"format\": \"torch_script\""),
            "c.json:3: models[0].format: there is no 'torch_script' here; did you mean "
            "'torchscript'?");
}

TEST(ConfigError, SyntheticModels) {
  const std::string inputs =
      "\"inputs\": [{\"name\": \"x\", \"datatype\": \"FP32\", \"shape\": []}]";
  EXPECT_EQ(ModelError("\"format\": \"synthetic\", " + inputs), "");
  EXPECT_EQ(ModelErrorWithPath("\"format\": \"synthetic\", " + inputs),
            "c.json:3: models[0].path: a synthetic model has no file");
  EXPECT_EQ(ModelError("\"format\": \"synthetic\""), "c.json:1: models[0]: 'inputs' is missing");
  EXPECT_EQ(ModelError("\"format\": \"synthetic\", \"inputs\": []"),
            "c.json:3: models[0].inputs: a synthetic model must have at least one");
}

TEST(ConfigError, Devices) {
  for (const char* device :
       {"auto", "cpu", "cuda", "cuda:0", "cuda:255", "cuda:all", "cuda:1,0", "mps"}) {
    EXPECT_EQ(ModelErrorWithPath(absl::StrCat("\"device\": \"", device, "\"")), "");
  }
  for (const char* device : {"", "gpu", "tpu:99999"}) {
    EXPECT_EQ(
        ModelErrorWithPath(absl::StrCat("\"device\": \"", device, "\""))
            .find(absl::StrCat("c.json:3: models[0].device: there is no '", device, "' here")),
        0U);
  }
  EXPECT_EQ(ModelErrorWithPath("\"device\": \"cuda:x\""),
            "c.json:3: models[0].device: there is no 'cuda:x' here; did you mean 'cuda:0'?");
  for (const char* device : {"cuda:", "cuda:-1", "cuda:256", "cuda:01", "cuda: 1", "cuda:1,",
                             "cuda:0,01", "cuda:1,0,1", "cuda:all,1", "cuda:1,all", "mps:0,1"}) {
    EXPECT_NE(ModelErrorWithPath(absl::StrCat("\"device\": \"", device, "\"")), "") << device;
  }
  const auto list = [](uint32_t devices) {
    std::string text = "\"device\": \"cuda:0";
    for (uint32_t i = 1; i < devices; ++i) absl::StrAppend(&text, ",", i);
    return text + "\"";
  };
  EXPECT_EQ(ModelErrorWithPath(list(kMaxWorkers)), "");
  EXPECT_NE(ModelErrorWithPath(list(kMaxWorkers + 1)), "") << "no model has so many processes";
}

TEST(ConfigError, Placement) {
  EXPECT_EQ(ModelErrorWithPath("\"placement\": {\"processes\": 64, \"lanes\": 32, "
                               "\"threads\": 256}"),
            "");
  EXPECT_EQ(ModelErrorWithPath("\"placement\": {\"processes\": 65,\n\"lanes\": 33,\n"
                               "\"threads\": 0}"),
            "c.json:3: models[0].placement.processes: must be a whole number from 1 to 64, not 65\n"
            "c.json:4: models[0].placement.lanes: must be a whole number from 1 to 32, not 33\n"
            "c.json:5: models[0].placement.threads: must be a whole number from 1 to 256, not 0");
  EXPECT_EQ(ModelErrorWithPath("\"placement\": {\"lanes\": \"many\"}"),
            "c.json:3: models[0].placement.lanes: must be a whole number or 'auto', not 'many'");
  EXPECT_EQ(ModelErrorWithPath("\"placement\": {\"lanes\": true}"),
            "c.json:3: models[0].placement.lanes: must be a whole number or 'auto', not a boolean");
  EXPECT_EQ(ModelErrorWithPath("\"placement\": 4"),
            "c.json:3: models[0].placement: must be an object, not a number");
}

TEST(ConfigError, TensorsHaveTheLineOfTheirOwn) {
  EXPECT_EQ(ModelErrorWithPath("\"inputs\": [\n{\"name\": \"x\",\n\"datatype\": \"FP31\",\n"
                               "\"shape\": [1,\n-7]}]"),
            "c.json:5: models[0].inputs[0].datatype: unknown datatype 'FP31'; did you mean 'FP32'?"
            "\nc.json:7: models[0].inputs[0].shape[1]: must be a whole number, or -1 for any "
            "length, not -7");
}

TEST(ConfigError, Sandbox) {
  EXPECT_EQ(ModelErrorWithPath("\"sandbox\": \"strickt\""),
            "c.json:3: models[0].sandbox: there is no 'strickt' here; did you mean 'strict'?");
}

TEST(ConfigError, WarmUp) {
  EXPECT_EQ(ModelErrorWithPath("\"warmup\": \"smalest\""),
            "c.json:3: models[0].warmup: there is no 'smalest' here; did you mean 'smallest'?");
}

TEST(ConfigError, Precision) {
  EXPECT_EQ(ModelErrorWithPath("\"precision\": \"bf6\""),
            "c.json:3: models[0].precision: there is no 'bf6' here; did you mean 'bf16'?");
  EXPECT_EQ(ModelErrorWithPath("\"precision\": \"auto\""), "");
}

TEST(ConfigError, ASyntheticModelHasNoPrecision) {
  constexpr char kInput[] = "{\"name\": \"x\", \"datatype\": \"FP32\", \"shape\": [1]}";
  const auto error_of = [&](const std::string& precision) {
    return ModelError(absl::StrCat("\"format\": \"synthetic\", \"inputs\": [", kInput,
                                   "],\n\"precision\": \"", precision, "\""));
  };
  EXPECT_EQ(error_of("auto"), "");
  EXPECT_EQ(error_of("bf16"),
            "c.json:4: models[0].precision: a synthetic model computes nothing; only as_saved and "
            "auto are allowed");
}

TEST(ConfigError, Queue) {
  EXPECT_EQ(ModelErrorWithPath("\"queue\": {\"requests\": 0}"),
            "c.json:3: models[0].queue.requests: must be a whole number from 1 to 65536, not 0");
  EXPECT_EQ(ModelErrorWithPath("\"run_timeout\": \"auto\", \"recycle\": {\"age\": \"0\"}"), "");
  EXPECT_EQ(ModelErrorWithPath("\"load_timeout\": \"0\""),
            "c.json:3: models[0].load_timeout: must be at least '1s', not none");
  EXPECT_EQ(ModelErrorWithPath("\"run_timeout\": \"10ms\""),
            "c.json:3: models[0].run_timeout: must be at least '1s', not '10ms'");
  EXPECT_EQ(ModelErrorWithPath("\"recycle\": {\"resident_memory\": \"1KiB\"}"),
            "c.json:3: models[0].recycle.resident_memory: must be at least '1MiB', not '1KiB'");
  EXPECT_EQ(ModelErrorWithPath("\"circuit\": {\"deaths\": 1001}"),
            "c.json:3: models[0].circuit.deaths: must be a whole number from 0 to 1000, not 1001");
  EXPECT_EQ(ModelErrorWithPath("\"circuit\": {\"period\": \"0\"}"),
            "c.json:3: models[0].circuit.period: must be at least '1s', not '0'");
  EXPECT_EQ(ModelErrorWithPath("\"circuit\": {\"period\": \"1s\"}"), "");
  EXPECT_EQ(ModelErrorWithPath("\"queue\": {\"bytes\": \"64MiB\"}"), "");
  EXPECT_EQ(ModelErrorWithPath("\"queue\": {\n\"bytes\": \"63MiB\"}"),
            "c.json:4: models[0].queue.bytes: must be at least limits.message, 64 MiB, not "
            "'63MiB'");
}

TEST(ConfigError, Parameters) {
  EXPECT_EQ(ModelErrorWithPath("\"parameters\": []"),
            "c.json:3: models[0].parameters: must be an object, not a list");
  EXPECT_EQ(ModelErrorWithPath("\"parameters\": {\n\"a\": null}"),
            "c.json:4: models[0].parameters.a: must be a string, a number or a boolean, not null");
  EXPECT_EQ(ModelErrorWithPath("\"parameters\": {\"\": 1}"),
            "c.json:3: models[0].parameters['']: a parameter's name is 1 to 128 bytes, its value "
            "at most 4096");
  EXPECT_EQ(ModelErrorWithPath("\"parameters\": {\"a\": \"" + std::string(4097, 'x') + "\"}"),
            "c.json:3: models[0].parameters.a: a parameter's name is 1 to 128 bytes, its value at "
            "most 4096");
  std::string many = "\"p\": 1";
  for (int i = 0; i < 64; ++i) absl::StrAppend(&many, ", \"p", i, "\": 1");
  EXPECT_EQ(ModelErrorWithPath("\"parameters\": {" + many + "}"),
            "c.json:3: models[0].parameters: has 65 members; at most 64 are allowed");
}

TEST(ConfigError, ResponseCache) {
  EXPECT_EQ(ModelErrorWithPath("\"response_cache\": \"tenant\""), "");
  EXPECT_EQ(ModelErrorWithPath("\"response_cache\": true"),
            "c.json:3: models[0].response_cache: must be a string, not a boolean");
  EXPECT_EQ(ModelErrorWithPath("\"response_cache\": \"on\""),
            "c.json:3: models[0].response_cache: there is no 'on' here; the choices are off, "
            "tenant, shared");
  EXPECT_EQ(ModelErrorWithPath("\"decoupled\": true, \"response_cache\": \"off\""), "");
  EXPECT_EQ(ModelErrorWithPath("\"decoupled\": true, \"response_cache\": \"tenant\""),
            "c.json:3: models[0].response_cache: a decoupled model's answers are not kept");
}

TEST(ConfigError, DefaultFor) {
  EXPECT_EQ(ModelErrorWithPath("\"default_for\": [\"embedding\", \"classify\"]"), "");
  EXPECT_EQ(ModelErrorWithPath("\"default_for\": [\"auto\"]"),
            "c.json:3: models[0].default_for[0]: must be one of embedding, rerank, classify, not "
            "'auto'");
  EXPECT_EQ(ModelErrorWithPath("\"default_for\": [\"rerank\", \"rerank\"]"),
            "c.json:3: models[0].default_for[1]: stands there twice");
  const auto error_of_both = [](const std::string& second) {
    const ConfigFiles files({"m.pt"});
    const absl::Status status =
        files
            .Parse(
                "{\"models\": [{\"name\": \"a\", \"path\": \"m.pt\", \"default_for\": "
                "[\"embedding\"]},\n{\"name\": \"b\", \"path\": \"m.pt\", "
                "\"default_for\": [\"" +
                second + "\"]}]}")
            .status();
    return std::string(absl::StripPrefix(status.message(), files.folder() + "/"));
  };
  EXPECT_EQ(error_of_both("rerank"), "");
  EXPECT_EQ(error_of_both("embedding"),
            "c.json:2: models[1].default_for: model 'a' is that for 'embedding'");
}

TEST(ConfigError, TextWithoutATokenizer) {
  EXPECT_EQ(ModelErrorWithPath("\"text\": {\"max_tokens\": 9}"),
            "c.json:3: models[0].text: 'tokenizer' is missing");
  EXPECT_EQ(ModelErrorWithPath("\"text\": {\"tokenizer\": \"\"}"),
            "c.json:3: models[0].text.tokenizer: must name a file");
}

TEST(ConfigError, TokenizerThatIsNotThere) {
  const ConfigFiles files({"m.pt"});
  EXPECT_EQ(files
                .Parse("{\"models\": [{\"name\": \"m\", \"path\": \"m.pt\",\n\"text\": "
                       "{\"tokenizer\": \"v\"}}]}")
                .status()
                .message(),
            files.folder() + "/c.json:2: models[0].text.tokenizer: there is no file '" +
                files.folder() + "/v'");
}

}  // namespace
}  // namespace mpsd
