// InferService: ModelInfer and ModelStreamInfer, the two methods that are not generic calls.
#pragma once

#include <grpcpp/impl/codegen/async_stream.h>
#include <grpcpp/impl/codegen/async_unary_call.h>
#include <grpcpp/impl/codegen/rpc_service_method.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/support/byte_buffer.h>

namespace mpsd {

// Registered with the gRPC server, which it outlives. Both methods carry raw bytes, so that
// server/wire reads and writes them without a message object. The generated service class would
// register every method; the others go to the generic service, GenericCall and the MethodTable. A
// Request() here asks for a call to come: gRPC gives the tag back when one has arrived, with
// `context` and its first bytes filled in. Owned by the GrpcServer. Thread-safe.
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

  // The order of a unary call; a stream reads its messages one by one instead:
  //
  //   Request(…, &arrived_)       a call is armed: it waits inside gRPC, one of kArmedInferCalls on
  //                               its queue, or kArmedStreamCalls
  //   Arrived(true)               a client has called; `context` has its metadata and deadline
  //   writer->Finish(…)           the answer or the status, once
  //   Arrived(false)              instead of the above: the server shuts down, and no call comes
  //
  // Both methods only hand pointers to gRPC: they never block, and never fail towards the caller. A
  // call must not be deleted while a tag is out (queue_tag.h).

  // Arms a ModelInfer call. When the tag is back, `bytes` has the whole message. The referents
  // belong to the call until then, and while it is open.
  void Request(grpc::ServerContext* context, grpc::ByteBuffer* bytes,
               grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>* writer,
               grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncUnary(0, context, bytes, writer, queue, queue, tag);
  }

  // Arms a ModelStreamInfer call. When the tag is back, none of its messages was read.
  void RequestStream(grpc::ServerContext* context,
                     grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>* stream,
                     grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncBidiStreaming(1, context, stream, queue, queue, tag);
  }
};

}  // namespace mpsd
