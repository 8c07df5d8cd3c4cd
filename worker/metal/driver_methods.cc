#include "worker/metal/driver_methods.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace mpsd {
namespace {

struct KnownMethod {
  const char* selector;
  EncoderCall call;
};

// Command buffers have these. The one with a config is the driver's own; the others end in it.
constexpr KnownMethod kMaking[] = {
    {"computeCommandEncoder", EncoderCall::kMakes},
    {"computeCommandEncoderWithDispatchType:", EncoderCall::kMakesWith},
    {"computeCommandEncoderWithDescriptor:", EncoderCall::kMakesWith},
    {"computeCommandEncoderWithConfig:", EncoderCall::kMakesWith},
    {"blitCommandEncoder", EncoderCall::kMakes},
    {"blitCommandEncoderWithDescriptor:", EncoderCall::kMakesWith},
};

// Encoders have these. All but the first are the driver's own ways to end.
constexpr KnownMethod kEnding[] = {
    {"endEncoding", EncoderCall::kEnds},
    {"deferredEndEncoding", EncoderCall::kEnds},
    {"destroyImpl", EncoderCall::kEnds},
    {"dealloc", EncoderCall::kEnds},
};

constexpr const char* kEncoders[] = {"computeCommandEncoder", "blitCommandEncoder"};

// Two kinds of encoders may have one class, whose methods are appended once.
absl::Status Append(const ObjectiveC& runtime, ObjectiveC::Class owner,
                    absl::Span<const KnownMethod> known, std::vector<EncoderMethod>* methods) {
  const auto is_there = [owner](const EncoderMethod& method) { return method.owner == owner; };
  if (std::any_of(methods->begin(), methods->end(), is_there)) return absl::OkStatus();
  const size_t before = methods->size();
  for (const KnownMethod& method : known) {
    if (!runtime.Has(owner, runtime.Named(method.selector))) continue;
    methods->push_back({owner, method.selector, method.call});
  }
  if (methods->size() > before) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the driver's class ", runtime.NameOf(owner), " has no known method"));
}

absl::Status NotMade(const char* what) {
  return absl::UnavailableError(absl::StrCat("the gpu's driver makes no ", what));
}

absl::StatusOr<std::vector<EncoderMethod>> MethodsOfBuffer(const ObjectiveC& runtime,
                                                           ObjectiveC::Object buffer) {
  std::vector<EncoderMethod> methods;
  absl::Status status = Append(runtime, runtime.ClassOf(buffer), kMaking, &methods);
  for (const char* const kind : kEncoders) {
    const ObjectiveC::Object encoder = runtime.Send(buffer, kind);
    if (encoder == nullptr) return NotMade(kind);
    status.Update(Append(runtime, runtime.ClassOf(encoder), kEnding, &methods));
    runtime.Send(encoder, "endEncoding");
  }
  if (!status.ok()) return status;
  return methods;
}

}  // namespace

absl::StatusOr<std::vector<EncoderMethod>> FindEncoderMethods(const ObjectiveC& runtime,
                                                              ObjectiveC::Object device) {
  const AutoreleasePool pool(runtime);
  const ObjectiveC::Object queue = runtime.Send(device, "newCommandQueue");
  if (queue == nullptr) return NotMade("command queue");
  const ObjectiveC::Object buffer = runtime.Send(queue, "commandBuffer");
  absl::StatusOr<std::vector<EncoderMethod>> methods = NotMade("command buffer");
  if (buffer != nullptr) methods = MethodsOfBuffer(runtime, buffer);
  runtime.Send(queue, "release");
  return methods;
}

}  // namespace mpsd
