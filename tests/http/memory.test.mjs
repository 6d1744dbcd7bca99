// The server's memory: locked and in place before it is ready, so that serving waits for no page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { demoModel, Server } from './server.mjs';

const MiB = 1 << 20;

function status(pid, name) {
  return Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`${name}:\\s+(\\d+)`))[1]) * 1024;
}

function majorFaults(pid) {
  return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[9]);
}

async function load(server) {
  const requests = Array.from({ length: 12 }, (_, i) =>
    server.ask('/v1/completions', { prompt: `In house ${i} there lived`, max_tokens: 40, ignore_eos: true }));
  await Promise.all(requests);
}

test('serving has no major fault, and what it needs is locked', async (t) => {
  let server;
  try {
    server = await Server.start(demoModel, ['--mlock', '--pool-size', '64M']);
  } catch (error) {
    if (!/RLIMIT_MEMLOCK/.test(error.message)) throw error;
    return t.skip('the limit on locked memory forbids it here');
  }
  try {
    const before = majorFaults(server.process.pid);
    await load(server);
    assert.equal(majorFaults(server.process.pid) - before, 0);
    assert.ok(status(server.process.pid, 'VmLck') > 64 * MiB);
    assert.equal(await server.metric('halogen_memory_swapped_bytes'), 0);
    assert.ok((await server.metric('halogen_memory_locked_bytes')) > 64 * MiB);
    assert.match(server.log, /memory: \d+ MiB resident, \d+ MiB locked, \d+ MiB on huge pages/);
  } finally {
    await server.stop();
  }
});

test('memory that need not be locked is not', async () => {
  const server = await Server.start(demoModel, ['--mlock', 'off', '--pool-size', '64M']);
  assert.equal(status(server.process.pid, 'VmLck'), 0);
  await server.stop();
});

test('weights can be resident or mapped, and say the same', async () => {
  const texts = [];
  for (const where of ['resident', 'mapped']) {
    const server = await Server.start(demoModel, ['--weights', where, '--pool-size', '64M']);
    const reply = await server.ask('/v1/completions', { prompt: 'Once', max_tokens: 20, temperature: 0, ignore_eos: true });
    texts.push(reply.choices[0].text);
    const mapped = readFileSync(`/proc/${server.process.pid}/maps`, 'utf8').includes('.gguf');
    assert.equal(mapped, where === 'mapped');
    await server.stop();
  }
  assert.equal(texts[0], texts[1]);
});
