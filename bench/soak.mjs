// Whether a server is after thousands of sequences what it was after the first ones: as fast, and as large.
//   node bench/soak.mjs PROGRAM MODEL [SEQUENCES] [STREAMS]
// Sequences of mixed lengths run over a pool that is too small for all STREAMS at their longest, so that some may wait
// or be preempted; a few begin alike, some clients leave in the middle. Every tenth of the run is a row: tokens a second and
// what the process holds. The last row is compared with the first one; the exit status is 1 where memory or file
// descriptors grew or blocks were lost, never for the speed, which other work on the machine changes too.
import { readFileSync, readdirSync } from 'node:fs';
import { Server } from './server.mjs';

const [program, model, sequences = 10000, streams = 16] = process.argv.slice(2);
if (!model) {
  console.error('usage: soak.mjs PROGRAM MODEL [SEQUENCES] [STREAMS]');
  process.exit(64);
}
const kTenths = 10;
const kContext = 512;
const kVocabulary = Number(process.env.VOCABULARY ?? 400); // ids that the model surely has
const kGrowth = 1.02; // of resident memory, for what the allocator keeps

const server = await Server.start(program, [
  '--model', model, '--context', String(kContext), '--max-concurrent-requests', String(streams),
  '--queue-limit', '64', '--pool-size', process.env.POOL ?? '1M']);
const { url } = server;
const { pid } = server.process;
const resident = () => Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;
const descriptors = () => readdirSync(`/proc/${pid}/fd`).length;

// A small generator, so that a run can be repeated.
let state = 12345;
function random(limit) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}
const ids = (count) => Array.from({ length: count }, () => 3 + random(kVocabulary - 3));
const stems = Array.from({ length: 8 }, () => ids(60));

// The tokens that came.
async function one() {
  const prompt = [...(random(3) === 0 ? stems[random(stems.length)] : []), ...ids(1 + random(100))];
  const leaves = random(20) === 0;
  const abort = new AbortController();
  try {
    const response = await fetch(`${url}/v1/completions`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, signal: abort.signal,
      body: JSON.stringify({ prompt, max_tokens: 8 + random(48), temperature: 0, ignore_eos: true, stream: leaves }) });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    if (!leaves) return (await response.json()).usage.completion_tokens;
    await response.body.getReader().read();
    abort.abort();
    return 1;
  } catch (error) {
    if (error.name === 'AbortError') return 0;
    throw error;
  }
}

let left = 0;
let tokens = 0;
async function client() {
  while (left > 0) {
    left--;
    const came = await one();
    tokens += came;
  }
}

const rows = [];
try {
  console.log('| sequences | tokens/s | resident MiB | descriptors | preemptions so far |\n| ---: | ---: | ---: | ---: | ---: |');
  for (let tenth = 1; tenth <= kTenths; tenth++) {
    left = Math.floor(Number(sequences) / kTenths);
    tokens = 0;
    const started = performance.now();
    await Promise.all(Array.from({ length: Number(streams) }, client));
    const rate = tokens / ((performance.now() - started) / 1000);
    const preemptions = await server.metric('halogen_preemptions_total');
    rows.push({ rate, resident: resident(), descriptors: descriptors() });
    console.log(`| ${tenth * Math.floor(Number(sequences) / kTenths)} | ${rate.toFixed(0)} | ${rows.at(-1).resident.toFixed(1)} | ${rows.at(-1).descriptors} | ${preemptions} |`);
  }
  await new Promise((resolve) => setTimeout(resolve, 500)); // those who left are noticed
  const used = await server.metric('halogen_kv_blocks_used');
  const [first, last] = [rows[0], rows.at(-1)];
  console.log(`last tenth beside the first: ${(last.rate / first.rate).toFixed(3)} of the speed, ` +
    `${(last.resident - first.resident).toFixed(1)} MiB more; ${used} blocks held`);
  const grown = last.resident > first.resident * kGrowth || last.descriptors > first.descriptors + Number(streams);
  process.exitCode = grown || used !== 0 ? 1 : 0;
} finally {
  server.stop();
}
