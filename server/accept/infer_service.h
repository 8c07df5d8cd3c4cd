// InferService: ModelInfer and ModelStreamInfer, the two methods that are not generic calls.
#pragma once

#include <grpcpp/impl/codegen/async_stream.h>
#include <grpcpp/impl/codegen/async_unary_call.h>
#include <grpcpp/impl/codegen/rpc_service_method.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/support/byte_buffer.h>

namespace mpsd {

// Registered with the gRPC server, which it outlives. Both methods take and give raw bytes, so that
// server/wire reads and writes them without a message object between. The generated service class
// is not used: it would register every method of the service, and those that are not here go to the
// generic service, GenericCall and the MethodTable. What is asked for here is a call to come: gRPC
// gives the tag back when one has arrived, with `context` and its first bytes filled in. Owned by
// the GrpcServer. Thread-safe.
class InferService final : public grpc::Service {
 public:
  static constexpr const char* kMethod = "/inference.GRPCInferenceService/ModelInfer";

  static constexpr const char* kStreamMethod = "/inference.GRPCInferenceService/ModelStreamInfer";

  InferService() {
    AddMethod(new grpc::internal::RpcServiceMethod(kMethod, grpc::internal::RpcMethod::NORMAL_RPC,
                                                   nullptr));
    MarkMethodRaw(0);
    AddMethod(new grpc::internal::RpcServiceMethod(
        kStreamMethod, grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodRaw(1);
  }

  // The order of a unary call; a stream's differs in that its messages are read one by one:
  //
  //   Request(…, &arrived_)       a call is armed: it waits inside gRPC, one of kArmedInferCalls on
  //                               its queue, or kArmedStreamCalls
  //   Arrived(true)               a client has called; `context` has its metadata and deadline
  //   writer->Finish(…)           the answer or the status, once
  //   Arrived(false)              instead of the above: the server shuts down, and no call comes
  //
  // Both methods only hand pointers to gRPC: they never block, and never fail towards the caller. A
  // tag that is out keeps its call from being deleted (queue_tag.h).

  // Arms a call of ModelInfer. When the tag is back, `bytes` has the whole message. The referents
  // belong to the call until then, and as long as it is open.
  void Request(grpc::ServerContext* context, grpc::ByteBuffer* bytes,
               grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>* writer,
               grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncUnary(0, context, bytes, writer, queue, queue, tag);
  }

  // Arms a call of ModelStreamInfer. When the tag is back, nothing of its messages was read.
  void RequestStream(grpc::ServerContext* context,
                     grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>* stream,
                     grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncBidiStreaming(1, context, stream, queue, queue, tag);
  }
};

}  // namespace mpsd
