// halogen plan, bench and perplexity, and the generator of models that they are used on.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { data, demoModel, haveData, pluginFolder, program, Server, sourceFolder, temporaryFolder } from './server.mjs';

function run(args) {
  return spawnSync(program, args, {
    encoding: 'utf8',
    timeout: 240_000,
    env: { ...process.env, HALOGEN_PLUGIN_PATH: pluginFolder },
  });
}

function json(args) {
  const { status, stdout, stderr } = run([...args, '--json']);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

const python = ['/usr/bin/python3', 'python3'].find((name) => spawnSync(name, ['-c', 'import numpy']).status === 0);
const withoutNumpy = python ? false : 'numpy is not installed';

function generate(name, args) {
  const file = join(temporaryFolder, name);
  const { status, stderr } = spawnSync(python, [join(sourceFolder, 'bench/random_gguf.py'), ...args, file],
    { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return file;
}

const tiny = ['--layers', '2', '--hidden', '256', '--feed-forward', '512', '--heads', '4', '--kv-heads', '2',
  '--context', '256'];

test('plan tells the weights by type and what a token takes in the cache', () => {
  const plan = json(['plan', demoModel]);
  assert.equal(plan.weights.map(({ bytes }) => bytes).reduce((a, b) => a + b), plan.weight_bytes);
  assert.ok(plan.weight_bytes < statSync(demoModel).size);
  // 2 x 5 layers x 2 KV heads of 64 x 2 bytes
  assert.equal(plan.caches.find(({ type }) => type === 'f16').bytes_per_token, 2 * 5 * 2 * 64 * 2);
  assert.ok(plan.read_bandwidth > 0);
  assert.equal(plan.fits, true);
});

test('plan for another machine does not measure this one', () => {
  assert.equal(json(['plan', demoModel, '--memory', '1G']).read_bandwidth, 0);
  assert.equal(json(['plan', demoModel, '--memory', '1G', '--bandwidth', '256']).read_bandwidth, 256e9);
});

test('plan of a 32B model in Q4_K_M: 19.8 GB at 256 GB/s', { skip: withoutNumpy }, () => {
  const model = generate('32b.gguf', ['--sparse', '--preset', 'qwen2.5-32b', '--type', 'q4_k_m']);
  const args = ['plan', model, '--bandwidth', '256', '--memory'];
  const plan = json([...args, '128G']);
  assert.equal((plan.weight_bytes / 1e9).toFixed(1), '19.8');
  assert.equal((plan.read_bandwidth / plan.weight_bytes).toFixed(1), '12.9');
  // The table of embeddings, 0.44 GB, is only looked up.
  assert.equal(plan.tokens_per_second.toFixed(1), '13.2');
  assert.equal(plan.caches.find(({ type }) => type === 'q8_0').bytes_per_token, 2 * 64 * 8 * 128 / 32 * 34);

  const { status, stdout } = run([...args, '16G']);
  assert.equal(status, 1);
  assert.match(stdout, /fits +no: .*KV pool/);
});

test('plan says about a file that cannot be read what loading would say', () => {
  const damaged = join(temporaryFolder, 'damaged.gguf');
  copyFileSync(demoModel, damaged);
  truncateSync(damaged, 100_000);
  for (const file of [damaged, '/nowhere/model.gguf']) {
    const planned = run(['plan', file]);
    const served = run(['serve', '--model', file, '--port', '0', '--log-level', 'error']);
    assert.equal(planned.status, 1);
    assert.equal(planned.stderr.trim().split('\n').length, 1, planned.stderr);
    const message = planned.stderr.trim().replace('halogen: ', '');
    assert.ok(served.stderr.includes(message), `${served.stderr} without ${message}`);
  }
});

for (const type of ['q4_0', 'q4_k_m', 'q6_k', 'q8_0', 'f16', 'bf16', 'f32']) {
  test(`a random model in ${type} runs and predicts nothing`, { skip: withoutNumpy }, () => {
    const model = generate(`tiny-${type}.gguf`, [...tiny, '--type', type]);
    const text = join(temporaryFolder, 'text.txt');
    writeFileSync(text, 'The quick brown fox jumps over the lazy dog. '.repeat(20));
    const { perplexity } = json(['perplexity', model, text, '--window', '64']);
    // Of 257 tokens, with logits of a spread of 3; a broken scale gives 257 or millions.
    assert.ok(perplexity > 300 && perplexity < 1e6, `perplexity ${perplexity}`);
  });
}

test('the same seed gives the same file', { skip: withoutNumpy }, () => {
  const files = ['1', '1', '2'].map((seed, i) => generate(`seed-${i}.gguf`, [...tiny, '--seed', seed]));
  const same = (a, b) => spawnSync('cmp', ['-s', a, b]).status === 0;
  assert.ok(same(files[0], files[1]));
  assert.ok(!same(files[0], files[2]));
});

test('bench measures each row beside its ceiling', () => {
  const report = json(['bench', demoModel, '--prefill', '32', '--depth', '0,64', '--batch', '1,2', '--tokens', '4',
    '--repetitions', '2', '--threads', '1']);
  assert.equal(report.threads, 1);
  assert.deepEqual(report.rows.map(({ work, tokens, depth, batch }) => [work, tokens, depth, batch]), [
    ['prefill', 32, 0, 1], ['decode', 4, 0, 1], ['decode', 4, 0, 2], ['decode', 4, 64, 1], ['decode', 4, 64, 2]]);
  for (const row of report.rows) {
    assert.ok(row.least <= row.tokens_per_second && row.tokens_per_second <= row.most, JSON.stringify(row));
    assert.ok(row.ceiling > 0);
  }
});

test('bench refuses streams that the pool cannot hold', () => {
  const { status, stderr } = run(['bench', demoModel, '--prefill', '32', '--batch', '16', '--depth', '400',
    '--set', 'kv.pool_size=8M']);
  assert.equal(status, 1);
  assert.match(stderr, /16 sequences of 464 tokens need 464 KV blocks, but the pool has/);
});

test('bench loads a server with streams', async (t) => {
  const server = await Server.start(demoModel);
  t.after(() => server.stop());
  const report = json(['bench', '--url', server.url, '--streams', '3', '--requests', '7', '--prompt-tokens', '20',
    '--shared-tokens', '8', '--answer-tokens', '5']);
  assert.equal(report.answered, 7);
  assert.equal(report.failed, 0);
  assert.equal(Math.round(report.tokens_per_second * report.seconds), 7 * 5);
  assert.equal(Math.round(report.prompt_tokens_per_second * report.seconds), 7 * 20);
  const { p50, p99, max } = report.time_to_first_token_ms;
  assert.ok(p50 > 0 && p50 <= p99 && p99 <= max, JSON.stringify(report));

  // Arrivals at a rate: each waits for its time.
  assert.equal(json(['bench', '--url', server.url, '--requests', '6', '--rate', '20', '--prompt-tokens', '4',
    '--answer-tokens', '2']).answered, 6);
  assert.equal(await server.stop(), 0);

  const { status, stderr } = run(['bench', '--url', server.url, '--requests', '2']);
  assert.equal(status, 1);
  assert.match(stderr, /no request was answered/);
});

test('bench without a model or a server is a wrong command line', () => {
  assert.equal(run(['bench']).status, 64);
  assert.equal(run(['bench', demoModel, '--url', 'http://127.0.0.1:1']).status, 64);
});

test('perplexity of the trained model', { skip: haveData('golden/heldout.txt') ? false : 'no data' }, () => {
  const found = json(['perplexity', data('gguf/trained-qwen3-15m-Q4_K_M.gguf'), data('golden/heldout.txt')]);
  assert.equal(found.predictions, 60 * 255);
  assert.ok(Math.abs(found.perplexity / 5.7687 - 1) < 0.005, `perplexity ${found.perplexity}`);
});

test('perplexity of a text that is shorter than a window says so', () => {
  const text = join(temporaryFolder, 'short.txt');
  writeFileSync(text, 'Hello.');
  const { status, stderr } = run(['perplexity', demoModel, text]);
  assert.equal(status, 1);
  assert.match(stderr, /short\.txt: the text has \d+ tokens, fewer than one window of 512/);
});
