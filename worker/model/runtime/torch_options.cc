#include "worker/model/runtime/torch_options.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "proto/base/units.h"
#include "worker/model/parameters.h"

namespace mpsd {
namespace {

absl::Status OneOf(absl::string_view choices) {
  return absl::InvalidArgumentError(absl::StrCat("must be one of ", choices));
}

absl::Status Read(const std::string& text, Switch* value) {
  if (text == "auto") {
    *value = Switch::kAuto;
  } else if (text == "on") {
    *value = Switch::kOn;
  } else if (text == "off") {
    *value = Switch::kOff;
  } else {
    return OneOf("auto, on, off");
  }
  return absl::OkStatus();
}

absl::Status ReadChoice(const std::string& text, const char* off, const char* on, bool* value) {
  if (text != on && text != off) return OneOf(absl::StrCat(off, ", ", on));
  *value = text == on;
  return absl::OkStatus();
}

absl::Status Read(const std::string& text, uint32_t* value) {
  if (absl::SimpleAtoi(text, value) && *value <= kMaxLanes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("must be a number from 0 to ", kMaxLanes));
}

absl::Status Read(const std::string& text, StreamExhaustion* value) {
  if (text == "error") {
    value->action = StreamExhaustion::kError;
    return absl::OkStatus();
  }
  if (text == "wait") {
    value->action = StreamExhaustion::kWait;
    return absl::OkStatus();
  }
  const absl::StatusOr<int64_t> wait_ns = ParseDurationNs(text);
  if (!wait_ns.ok()) return OneOf("error, wait, or a duration such as 500ms");
  *value = {StreamExhaustion::kWaitLimited, *wait_ns};
  return absl::OkStatus();
}

absl::Status Read(const std::string& text, std::string* value) {
  *value = text;
  return absl::OkStatus();
}

absl::Status ReadOne(const std::string& key, const std::string& text, TorchOptions* options) {
  if (key == "linear_rewrite") return Read(text, &options->linear_rewrite);
  if (key == "row_buckets") return Read(text, &options->row_buckets);
  if (key == "graphs") return Read(text, &options->graphs);
  if (key == "panels") return Read(text, &options->panels);
  if (key == "shared_weights") return Read(text, &options->shared_weights);
  if (key == "force_graph_path") return Read(text, &options->force_graph_path);
  if (key == "training_mode") {
    return ReadChoice(text, "refuse", "evaluate", &options->allow_training_mode);
  }
  if (key == "profiler") return ReadChoice(text, "refuse", "allow", &options->allow_profiler);
  if (key == "self_check") return ReadChoice(text, "off", "on", &options->self_check);
  if (key == "device_inflight") return Read(text, &options->device_inflight);
  if (key == "stream_exhaustion") return Read(text, &options->stream_exhaustion);
  if (key == "libtorch_version") return Read(text, &options->libtorch_version);
  if (key == "libtorch_path") return Read(text, &options->libtorch_path);
  if (key == "runtime_kind") return Read(text, &options->runtime_kind);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TorchOptions> TorchOptions::Parse(
    const std::map<std::string, std::string>& parameters) {
  TorchOptions options;
  const absl::Status status =
      ReadParameters(parameters, [&options](const std::string& key, const std::string& text) {
        return ReadOne(key, text, &options);
      });
  if (!status.ok()) return status;
  return options;
}

}  // namespace mpsd
