// Many streams over a pool that is too small for them, with clients that leave and prompts that begin alike, with and
// without a second tier: whoever stays gets exactly what they would have got alone, and memory does not grow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { data, demoModel, haveData, Server } from '../http/server.mjs';

const kStreams = 64;
const kWaves = Number(process.env.HALOGEN_SOAK_WAVES ?? 2);
const kSanitized = process.env.HALOGEN_SANITIZED === '1';
const kLeaveShare = 0.3;

// Pools of 1024 and 1638 tokens. Sanitizers look for races and bad accesses, not at arithmetic, which makes a larger
// model ten times as slow: they get the smallest there is.
const kDemo = { path: demoModel, pool: '2560K', tokens: [0, 4087] };
const kTiny = { path: data('stories260K/stories260K-F16.gguf'), pool: '1M', tokens: [259, 512] };
const model = kSanitized && haveData('stories260K/stories260K-F16.gguf') ? kTiny : kDemo;

// A small generator, so that a run can be repeated.
let state = 12345;
function random(limit) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

const tokens = (count) => Array.from({ length: count }, () => model.tokens[0] + random(model.tokens[1] - model.tokens[0]));

// Half of the prompts begin like others: with one of a few stems, or with what was said before.
const texts = [tokens(45), tokens(45)];
function request() {
  const begins = random(2) === 0 ? [] : texts[random(texts.length)].slice(0, 1 + random(60));
  return {
    prompt: [...begins, ...tokens(1 + random(40))],
    max_tokens: 40 + random(110),
    temperature: 0,
    ignore_eos: true,
    return_token_ids: true,
  };
}

// Alone, and computed from the beginning.
const alone = (body) => follow({ ...body, cache_prompt: false });

let server;

// The tokens of a stream; null for one that left after a few.
async function follow(body, leaveAfter) {
  const controller = new AbortController();
  const tokens = [];
  try {
    for await (const chunk of server.stream('/v1/completions', body, { signal: controller.signal })) {
      tokens.push(...(chunk.choices[0].token_ids ?? []));
      if (leaveAfter !== undefined && tokens.length >= leaveAfter) controller.abort();
    }
  } catch (error) {
    if (error.name !== 'AbortError') throw error;
    return null;
  }
  return tokens;
}

async function idle() {
  for (let tries = 0; tries < 500; tries++) {
    const running = (await server.metric('halogen_requests_running')) + (await server.metric('halogen_requests_waiting'));
    if (running === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail('requests are left over');
}

for (const [name, flags] of [['one tier', []], ['two tiers', ['--host-pool-size', model.pool]]]) {
  test(`${kWaves} waves of ${kStreams} streams over ${name}`, { timeout: 1_200_000 }, async () => {
    // 64 requests at once that begin short and grow to as much as 250 tokens, over the pool.
    server = await Server.start(model.path, [
      '--max-concurrent-requests', String(kStreams), '--context', '256', '--pool-size', model.pool, '--batch-size', '128',
      ...flags]);
    try {
      await soak();
    } finally {
      assert.equal(await server.stop(), 0);
    }
  });
}

async function soak() {
  const blocks = await server.metric('halogen_kv_blocks');
  let memory;
  let survivors = 0;
  for (let wave = 0; wave < kWaves; wave++) {
    const requests = Array.from({ length: kStreams }, request);
    const leave = requests.map(() => (random(1000) < kLeaveShare * 1000 ? random(6) : undefined));
    const together = await Promise.all(requests.map((body, i) => follow(body, leave[i])));
    await idle();
    assert.equal(await server.metric('halogen_kv_blocks_used'), 0);
    for (let i = 0; i < kStreams; i++) {
      if (leave[i] !== undefined) continue;
      assert.equal(together[i].length, requests[i].max_tokens);
      assert.deepEqual(together[i], await alone(requests[i]), `wave ${wave}, stream ${i}`);
      if (texts.length < 20) texts.push([...requests[i].prompt, ...together[i]]);
      survivors++;
    }
    if (wave === 0) memory = server.residentBytes();
  }
  const grown = server.residentBytes() - memory;
  const count = (name) => server.metric(`halogen_${name}_total`);
  const [preemptions, cancelled, hits, queried, evicted, stored, loaded] = await Promise.all([
    'preemptions', 'requests_cancelled', 'prefix_cache_hit_tokens', 'prefix_cache_queried_tokens',
    'prefix_cache_evicted_blocks', 'kv_host_stored_blocks', 'kv_host_loaded_blocks'].map(count));
  console.log(`${survivors} streams equal their solo output; ${blocks} blocks, ${preemptions} preemptions, ` +
    `${cancelled} cancelled, ${hits} of ${queried} tokens from the cache, ${evicted} blocks thrown out, ` +
    `${stored} stored and ${loaded} loaded, memory grew ${(grown / 1024).toFixed(0)} KiB after the first wave`);
  assert.ok(preemptions > 0, 'the pool was large enough');
  assert.ok(cancelled > 0);
  assert.ok(hits > 0 && evicted > 0);
  const tier = (await server.metric('halogen_kv_host_blocks')) > 0;
  assert.equal(stored > 0, tier);
  assert.equal(loaded > 0, tier);
  if (!kSanitized) assert.ok(grown < 8 << 20, `memory grew by ${grown} bytes`);
}
