// ModelMethods: the methods that tell clients the state of the server and its models.
#pragma once

#include <functional>
#include <string>

#include "server/http/calls/method_table.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

class LoadSampler;

// These methods read the ModelDirectory and change nothing. Their calls never meet a pool, a worker
// or the reloader. A task of the door reads the bytes, the gate judges the caller, the MethodTable
// runs a function below, and the task writes the response. They run on the thread of their call, on
// several at a time, and do not block. Each answer is a snapshot that may be old when the client
// reads it.
//
// A model's state, and what each method says about it:
//
//   generation of the model       Check         Watch            ModelReady  ModelMetadata
//   none is published             NOT_FOUND     SERVICE_UNKNOWN  false       NOT_FOUND
//   published, spec not complete  NOT_SERVING   NOT_SERVING      false       UNAVAILABLE
//   published, no worker serves   NOT_SERVING   NOT_SERVING      false       the spec
//   published, a worker serves    SERVING       SERVING          true        the spec
//
// Readiness needs ServingStage::kServing: a daemon that starts, is in its lame-duck time or exits
// is not ready, nor is any of its models. ModelConfig answers like ModelMetadata.

// Facts for ServerMetadata, copied into the method.
struct ServerFacts {
  std::string name;
  std::string version;
  bool writes_traces = false;        // false: the config names no file for traces
  bool takes_shared_memory = false;  // clients may register system memory
  // whether clients may now register CUDA memory; called by any thread
  std::function<bool()> takes_device_memory;
};

// Adds ServerLive, ServerReady, ServerMetadata, ModelReady and ModelMetadata of the inference
// service. A server that can answer is live. ModelReady refuses only a version that is no number;
// an unknown model is "not ready". `models` outlives the table. REQUIRES: takes_device_memory is
// set.
void AddInferenceMethods(const ModelDirectory* models, const ServerFacts& facts,
                         MethodTable* table);

// Adds Check and Watch of grpc.health.v1.Health, which orchestrators probe. The empty name and
// "inference.GRPCInferenceService" stand for the server, which serves while every published model
// does. Any other name stands for a model, in any version. `models` outlives the table.
void AddHealthMethods(const ModelDirectory* models, MethodTable* table);

// Adds ModelConfig: a model's spec, placement and queue as a Triton model configuration, for
// clients that were written for Triton. All lanes of all processes are alike, so they are one
// instance group, or two if some devices have one process more. `models` outlives the table.
void AddModelConfigMethod(const ModelDirectory* models, MethodTable* table);

// Adds ModelStatistics: what the models have done since they were first loaded. A generation takes
// over the counters of the one before, so a reload does not reset them. An empty name stands for
// all models, an empty version for all versions; NOT_FOUND for a name that FindServed() does not
// know. A model's memory is its workers' resident memory, left out while there is none. The
// referents outlive the table.
void AddStatisticsMethod(const ModelDirectory* models, const WorkerStatusSource* workers,
                         MethodTable* table);

// Adds StreamCoreMetrics of xds.service.orca.v3.OpenRcaService: load reports for clients that
// balance. A report comes at once, then one for each interval that the client asks for, or
// LoadSampler::kSampleNs if that is longer. The streams of all clients share one sample. A client
// that does not read gets no further reports, and its call ends like any other whose answers are
// not taken. `sampler` outlives the table.
void AddLoadMethods(LoadSampler* sampler, MethodTable* table);

}  // namespace mpsd
