// What replies and metrics say that requests took.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { demoModel, Server } from './server.mjs';

let server;
before(async () => (server = await Server.start(demoModel, ['--bandwidth', '10G'])));
after(() => server.stop());

const request = { prompt: 'Once upon a time', max_tokens: 20, temperature: 0, ignore_eos: true };

function check(timings, usage) {
  assert.equal(timings.cache_n + timings.prompt_n, usage.prompt_tokens);
  assert.equal(timings.predicted_n, usage.completion_tokens);
  for (const phase of ['prompt', 'predicted']) {
    for (const figure of ['ms', 'per_token_ms', 'per_second', 'bytes', 'operations', 'bytes_per_second'])
      assert.ok(timings[`${phase}_${figure}`] > 0, `${phase}_${figure}`);
    const share = timings[`${phase}_bytes_per_second`] / (10 * 2 ** 30);
    assert.ok(Math.abs(timings[`${phase}_bandwidth_share`] - share) < 1e-9);
  }
  const perToken = timings.predicted_ms / (timings.predicted_n - 1);
  assert.ok(Math.abs(timings.predicted_per_token_ms - perToken) < 1e-9);
  assert.ok(Math.abs(timings.predicted_per_second - 1000 / perToken) < 1e-6 * timings.predicted_per_second);
}

test('a whole reply has its timings', async () => {
  const reply = await server.ask('/v1/completions', request);
  check(reply.timings, reply.usage);
});

test('a stream has them in the chunk that ends it', async () => {
  const chunks = [];
  for await (const chunk of server.stream('/v1/completions', { ...request, n: 2, stream_options: { include_usage: true } }))
    chunks.push(chunk);
  const timed = chunks.filter((chunk) => chunk.timings);
  assert.equal(timed.length, 1);
  assert.equal(timed[0].choices[0].finish_reason, 'length');
  const usage = chunks.at(-1).usage;
  assert.equal(timed[0].timings.predicted_n, usage.completion_tokens);
});

test('a request alone is booked all that the metrics count', async () => {
  const figures = async () => ({
    bytes: await server.metric('halogen_device_bytes_total'),
    operations: await server.metric('halogen_device_operations_total'),
  });
  const earlier = await figures();
  const { timings } = await server.ask('/v1/completions', { ...request, prompt: 'A different beginning' });
  const later = await figures();
  assert.equal(later.bytes - earlier.bytes, timings.prompt_bytes + timings.predicted_bytes);
  assert.equal(later.operations - earlier.operations, timings.prompt_operations + timings.predicted_operations);
  for (const part of ['plan', 'assemble', 'wait', 'sample', 'text'])
    assert.ok((await server.metric(`halogen_step_${part}_seconds_total`)) > 0, part);
  assert.ok((await server.metric('halogen_device_seconds_total')) > 0);
});
