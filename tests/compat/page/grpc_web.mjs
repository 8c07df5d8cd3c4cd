// Calls servers by Connect's client of gRPC-Web as a page does. window.ask() gives what it got as one
// object. The messages of the protocol come from /descriptors, as protoc writes them.
import { createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-web';

const LARGE = 300_000;

const descriptors = new Uint8Array(await (await fetch('/descriptors')).arrayBuffer());
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptors));
const service = registry.getService('inference.GRPCInferenceService');

const inference = (model, values) => ({
  modelName: model,
  inputs: [{ name: 'x', datatype: 'FP32', shape: [1n, BigInt(values.length)] }],
  rawInputContents: [new Uint8Array(Float32Array.from(values).buffer)],
});

const large = Array.from({ length: LARGE }, (_, i) => i);

async function told(call) {
  try {
    const response = await call;
    const raw = response.rawOutputContents?.[0];
    if (!raw) return { live: response.live };
    const values = Array.from(new Float32Array(raw.slice().buffer));
    if (values.length !== LARGE) return { values };
    return { same: values.every((value, i) => value === large[i]) };
  } catch (error) {
    return { code: error.code, text: error.rawMessage };
  }
}

window.ask = async (baseUrl) => {
  const client = createClient(service, createGrpcWebTransport({ baseUrl, useBinaryFormat: true }));
  return {
    live: await told(client.serverLive({})),
    answer: await told(client.modelInfer(inference('m', [1, 2]))),
    large: await told(client.modelInfer(inference('m', large))),
    unknown: await told(client.modelInfer(inference('b\u00fc%', [1, 2]))),
    late: await told(client.modelInfer(inference('slow', [1, 2]), { timeoutMs: 300 })),
  };
};
