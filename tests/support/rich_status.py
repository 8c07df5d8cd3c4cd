"""What the end of a refused call holds beside its code and text, read by protobuf itself."""
from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, duration_pb2, message_factory

TRAILER = "grpc-status-details-bin"
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


def _classes():
    """google.rpc.Status and google.rpc.RetryInfo, which no package of the tests brings along."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="rich_status.proto", package="google.rpc",
                                              syntax="proto3")
    status = file.message_type.add(name="Status")
    status.field.add(name="code", number=1, type=field.TYPE_INT32, label=field.LABEL_OPTIONAL)
    status.field.add(name="message", number=2, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL)
    status.field.add(name="details", number=3, type=field.TYPE_MESSAGE, label=field.LABEL_REPEATED,
                     type_name=".google.protobuf.Any")
    file.message_type.add(name="RetryInfo").field.add(
        name="retry_delay", number=1, type=field.TYPE_MESSAGE, label=field.LABEL_OPTIONAL,
        type_name=".google.protobuf.Duration")
    pool = descriptor_pool.DescriptorPool()
    for imported in (any_pb2, duration_pb2):
        pool.AddSerializedFile(imported.DESCRIPTOR.serialized_pb)
        file.dependency.append(imported.DESCRIPTOR.name)
    pool.Add(file)
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(f"google.rpc.{name}"))
            for name in ("Status", "RetryInfo")]


Status, RetryInfo = _classes()


def status_of(call):
    """The google.rpc.Status of a call that has ended; None where there is none."""
    for name, value in call.trailing_metadata() or ():
        if name == TRAILER:
            return Status.FromString(value)
    return None


def retry_delay_s(status):
    """When it may be tried again; None where nothing is said."""
    for detail in status.details:
        if detail.type_url == RETRY_INFO:
            delay = RetryInfo.FromString(detail.value).retry_delay
            return delay.seconds + delay.nanos / 1e9
    return None
