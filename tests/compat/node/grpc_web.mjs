// Calls the server at MPSD_URL by two clients of gRPC-Web, and prints what each got as one JSON object.
// MPSD_DESCRIPTORS is a file with the messages of the protocol, as protoc writes it.
import { readFileSync } from 'node:fs';
import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-web';
import grpcWeb from 'grpc-web';
import xhr2 from 'xhr2';

const url = process.env.MPSD_URL;
const registry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, readFileSync(process.env.MPSD_DESCRIPTORS)));
const service = registry.getService('inference.GRPCInferenceService');
const LARGE = 300_000;

const inference = (model, values, id = '') => ({
  modelName: model,
  id,
  inputs: [{ name: 'x', datatype: 'FP32', shape: [1n, BigInt(values.length)] }],
  rawInputContents: [new Uint8Array(Float32Array.from(values).buffer)],
});

const large = Array.from({ length: LARGE }, (_, i) => i);
const CALLS = {
  live: ['serverLive', {}],
  metadata: ['modelMetadata', { name: 'm' }],
  answer: ['modelInfer', inference('m', [1, 2], 'q')],
  large: ['modelInfer', inference('wide', large)],
  unknown: ['modelInfer', inference('b\u00fc%', [1, 2])],
  nothing: ['modelMetadata', { name: 'nothing' }],
  late: ['modelInfer', inference('slow', [1, 2]), 300],
};

function told(response) {
  const raw = response.rawOutputContents?.[0];
  if (!raw) return { live: response.live, name: response.name, inputs: response.inputs?.length };
  const values = Array.from(new Float32Array(raw.slice().buffer));
  const same = values.length === LARGE && values.every((value, i) => value === large[i]);
  return { id: response.id, values: values.length > 2 ? values.length : values, same };
}

// By connect-web, which uses fetch() and the binary form.
const client = createClient(service, createGrpcWebTransport({ baseUrl: url, useBinaryFormat: true }));
async function connect(name, request, timeoutMs) {
  try {
    return told(await client[name](request, { timeoutMs }));
  } catch (error) {
    return { code: error.code, text: error.rawMessage };
  }
}

// By Google's client, which uses XMLHttpRequest and either form.
globalThis.XMLHttpRequest = xhr2;
function google(format) {
  const base = new grpcWeb.GrpcWebClientBase({ format });
  return async (name, request, timeoutMs) => {
    const method = service.method[name];
    const descriptor = new grpcWeb.MethodDescriptor(
      `/${service.typeName}/${method.name}`, 'unary', Object, Object,
      (message) => toBinary(method.input, create(method.input, message)),
      (bytes) => fromBinary(method.output, bytes));
    const metadata = timeoutMs ? { 'grpc-timeout': `${timeoutMs}m` } : {}; // the client keeps no time
    try {
      return told(await base.unaryCall(`${url}${descriptor.getName()}`, request, metadata, descriptor));
    } catch (error) {
      return { code: error.code, text: error.message };
    }
  };
}

const got = {};
for (const [who, call] of Object.entries({ connect, binary: google('binary'), text: google('text') })) {
  got[who] = {};
  for (const [name, [method, request, timeoutMs]] of Object.entries(CALLS)) {
    got[who][name] = await call(method, request, timeoutMs);
  }
}
console.log(JSON.stringify(got));
