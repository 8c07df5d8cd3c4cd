// ModelMethods: the methods that tell clients how the server and its models are.
#pragma once

#include <functional>
#include <string>

#include "server/entry/method_table.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

// These methods read the ModelDirectory and change nothing. A call of them never meets a pool, a
// worker or the reloader: GenericCall reads its bytes, the gate has judged the caller, the
// MethodTable runs the function below, GenericCall writes the response. They run on the queue
// thread of their call, on several such threads at a time, and do not block; each answer is a
// snapshot that may be old when the client reads it.
//
// How a model stands, and what each method says of it:
//
//   generation of the model       Check         Watch            ModelReady  ModelMetadata
//   none is published             NOT_FOUND     SERVICE_UNKNOWN  false       NOT_FOUND
//   published, spec not complete  NOT_SERVING   NOT_SERVING      false       UNAVAILABLE
//   published, no worker serves   NOT_SERVING   NOT_SERVING      false       the spec
//   published, a worker serves    SERVING       SERVING          true        the spec
//
// Readiness is that of ServingStage::kServing: a daemon that starts, stands in its lame-duck time
// or exits is not ready, nor is any of its models. ModelConfig answers like ModelMetadata.

// What ServerMetadata says of the server. Copied into the method.
struct ServerFacts {
  std::string name;
  std::string version;
  bool writes_traces = false;                 // false: the config names no file for traces
  bool takes_shared_memory = false;           // of system memory, from clients
  std::function<bool()> takes_device_memory;  // of CUDA devices, now; any thread calls this
};

// Adds ServerLive, ServerReady, ServerMetadata, ModelReady and ModelMetadata of the inference
// service. A server that can answer is live. ModelReady refuses only a version that is no number;
// an unknown model is "not ready". `models` outlives the table. REQUIRES: takes_device_memory is
// set.
void AddInferenceMethods(const ModelDirectory* models, const ServerFacts& facts,
                         MethodTable* table);

// Adds Check and Watch of grpc.health.v1.Health, the form that orchestrators probe. The empty name
// and "inference.GRPCInferenceService" stand for the server, which serves while every published
// model does; every other name stands for a model, of any version. `models` outlives the table.
void AddHealthMethods(const ModelDirectory* models, MethodTable* table);

// Adds ModelConfig: the spec, placement and queue of a model in Triton's form of a model
// configuration, for clients that were written for Triton. All lanes of all processes are one
// instance group, since they are alike; where some devices have a process more than others, two.
// `models` outlives the table.
void AddModelConfigMethod(const ModelDirectory* models, MethodTable* table);

// Adds ModelStatistics: what the models have done since they were first loaded. A reload
// does not set the counts back, since a generation takes over the counters of the one before. An
// empty name stands for all models, an empty version for all versions; NOT_FOUND for a name that
// FindServed() does not know. The memory of a model is the resident memory of its workers, and is
// left out while there is none. The referents outlive the table.
void AddStatisticsMethod(const ModelDirectory* models, const WorkerStatusSource* workers,
                         MethodTable* table);

}  // namespace mpsd
