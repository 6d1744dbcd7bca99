// How long a prompt takes until its first token: computed, found in the pool, and found in the second tier.
//   node bench/prefix_cache.mjs PROGRAM MODEL [TOKENS] [ROUNDS]
// Prints medians and the ratio of each to computing, with the counts that show where the blocks came from.
import { Server } from './server.mjs';

const [program, model, tokens = 3000, rounds = 5] = process.argv.slice(2);
const length = Number(tokens);
if (!model) {
  console.error('usage: prefix_cache.mjs PROGRAM MODEL [TOKENS] [ROUNDS]');
  process.exit(64);
}

// The pool holds one prompt and not two; the second tier holds several.
const context = length + 64;
const server = await Server.start(program, [
  '--model', model, '--context', String(context), '--max-concurrent-requests', '1',
  '--host-pool-size', process.env.HOST_POOL ?? '1G']);
const { url } = server;
const prompt = (seed) => Array.from({ length }, (_, i) => 3 + ((seed * 7919 + i * 31) % 200));

async function ask(ids) {
  const started = performance.now();
  const response = await fetch(`${url}/v1/completions`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ prompt: ids, max_tokens: 1, temperature: 0, ignore_eos: true }) });
  const reply = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(reply));
  return { ms: performance.now() - started, cached: reply.usage.prompt_tokens_details.cached_tokens };
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const times = { computed: [], pool: [], tier: [] };
const cached = { computed: [], pool: [], tier: [] };
const note = (what, answer) => (times[what].push(answer.ms), cached[what].push(answer.cached));
try {
  await ask(prompt(0)); // warms up, and teaches the engine what a token costs
  for (let round = 1; round <= Number(rounds); round++) {
    const [one, other] = [prompt(2 * round), prompt(2 * round + 1)];
    note('computed', await ask(one));
    note('pool', await ask(one));
    await ask(other); // moves the first one out
    const loaded = await server.metric('halogen_kv_host_loaded_blocks_total');
    note('tier', await ask(one));
    if ((await server.metric('halogen_kv_host_loaded_blocks_total')) === loaded) throw new Error('nothing came from the second tier');
  }
  const names = { computed: 'computed', pool: 'found in the pool', tier: 'found in the second tier' };
  console.log(`${length} tokens, medians of ${rounds}:`);
  for (const [what, name] of Object.entries(names)) {
    console.log(`  ${name.padEnd(25)} ${median(times[what]).toFixed(1).padStart(9)} ms  ` +
      `${(median(times.computed) / median(times[what])).toFixed(1).padStart(7)} x  ${median(cached[what])} tokens cached`);
  }
  console.log(`  ${await server.metric('halogen_kv_host_stored_blocks_total')} blocks stored, ` +
    `${await server.metric('halogen_kv_host_loaded_blocks_total')} loaded`);
} finally {
  server.stop();
}
