// Asks the server at MPSD_URL as openai's own pages show, and prints what it got as one JSON object.
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: `${process.env.MPSD_URL}/v1`, apiKey: 'none', maxRetries: 0 });

async function refused(request) {
  try {
    await client.embeddings.create(request);
  } catch (error) {
    return { class: error.constructor.name, status: error.status, type: error.type, code: error.code };
  }
  return null;
}

const models = [];
for await (const model of client.models.list()) models.push(model.id);

console.log(JSON.stringify({
  models,
  model: await client.models.retrieve('e'),
  base64: await client.embeddings.create({ model: 'e', input: ['a b', '', 'c'] }),
  float: await client.embeddings.create({ model: 'e', input: 'a b', encoding_format: 'float' }),
  tokens: await client.embeddings.create({ model: 'e', input: [[2, 4, 3], [2, 5, 3]] }),
  cut: await client.embeddings.create({ model: 'e', input: 'a', dimensions: 3 }),
  unknown: await refused({ model: 'x', input: 'a' }),
  empty: await refused({ model: 'e', input: [] }),
  long: await refused({ model: 'e', input: 'a b c d e f', truncate: false }),
}));
