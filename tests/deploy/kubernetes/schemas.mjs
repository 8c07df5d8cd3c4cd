// Holds the documents of the standard input, a list in JSON, against the schemas that controllers publish
// for their own kinds: types and required fields. Unknown fields pass.
import fs from 'node:fs';

const packages = {
  'gateway.networking.k8s.io/v1': '@kubernetes-models/gateway-api',
  'keda.sh/v1alpha1': '@kubernetes-models/keda',
  'serving.knative.dev/v1': '@kubernetes-models/knative',
};

for (const document of JSON.parse(fs.readFileSync(0))) {
  const { apiVersion, kind } = document;
  const found = await import(`${packages[apiVersion]}/${apiVersion}/${kind}`);
  new found[kind](document).validate();
  console.log(`${apiVersion} ${kind}`);
}
