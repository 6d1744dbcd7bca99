#!/usr/bin/env node
// Load on a running server, beside another one that speaks the same API, in turns.
//
//   node bench/http_load.mjs --url http://127.0.0.1:8080 [--peer http://127.0.0.1:8090]
//        [--rounds 5] [--seconds 5] [--concurrency 256] [--tokens 16] [--key KEY] [--only WORD]
//
// Needs wrk (the Debian package). GET /v1/models at 64 and 256 connections that are kept, then
// completions of a few tokens at --concurrency, whole and streamed. In every round each server is
// measured once, so that what else the machine does meets both; the table has the medians of the
// rounds. Prompts differ from request to request, and a peer that caches prompts is asked not to.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    url: { type: 'string' },
    peer: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    concurrency: { type: 'string', default: '256' },
    tokens: { type: 'string', default: '16' },
    key: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
if (!options.url) {
  console.error('usage: node bench/http_load.mjs --url URL [--peer URL] [--rounds N] [--seconds N] [--concurrency N] [--tokens N] [--key KEY] [--only WORD]');
  process.exit(64);
}
const folder = mkdtempSync(join(tmpdir(), 'http-load-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
const tokens = Number(options.tokens);

function completionScript(stream) {
  const file = join(folder, `completion-${stream}.lua`);
  writeFileSync(file, `
    local number = 0
    request = function()
      number = number + 1
      local body = '{"prompt":"Once upon a time, in house ' .. number ..
        '","max_tokens":${tokens},"temperature":0,"ignore_eos":true,"cache_prompt":false,"stream":${stream}}'
      return wrk.format("POST", "/v1/completions", {["Content-Type"] = "application/json"${
        options.key ? `, ["Authorization"] = "Bearer ${options.key}"` : ''}}, body)
    end`);
  return file;
}

const loads = [
  { name: 'models, 64 connections', path: '/v1/models', connections: 64, tokens: 0 },
  { name: 'models, 256 connections', path: '/v1/models', connections: 256, tokens: 0 },
  { name: `completions of ${tokens} tokens, ${options.concurrency} at once`, script: completionScript(false), connections: options.concurrency, tokens },
  { name: `the same, streamed`, script: completionScript(true), connections: options.concurrency, tokens },
].filter((load) => load.name.includes(options.only));

// "1.50ms" as milliseconds.
function milliseconds(text) {
  const [, number, unit] = text.match(/([\d.]+)(us|ms|s|m)/);
  return Number(number) * { us: 1e-3, ms: 1, s: 1e3, m: 6e4 }[unit];
}

function measure(url, load) {
  const args = ['-t', '1', '-c', String(load.connections), '-d', `${options.seconds}s`, '--timeout', '120s', '--latency'];
  if (load.script) args.push('-s', load.script);
  if (options.key) args.push('-H', `Authorization: Bearer ${options.key}`);
  const { stdout, stderr, error } = spawnSync('wrk', [...args, url + (load.path ?? '')], { encoding: 'utf8' });
  if (error) throw new Error(`wrk: ${error.message}`);
  const find = (pattern) => stdout.match(pattern)?.[1];
  const rate = find(/Requests\/sec:\s+([\d.]+)/);
  if (!rate) throw new Error(`wrk said: ${stdout}${stderr}`);
  const socketErrors = (stdout.match(/Socket errors: (.*)/)?.[1].match(/\d+/g) ?? []).reduce((sum, n) => sum + Number(n), 0);
  return {
    rate: Number(rate),
    p50: milliseconds(find(/^\s+50%\s+(\S+)\s*$/m)),
    p99: milliseconds(find(/^\s+99%\s+(\S+)\s*$/m)),
    errors: socketErrors + Number(find(/Non-2xx or 3xx responses: (\d+)/) ?? 0),
  };
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const show = (number) => (number >= 100 ? number.toFixed(0) : number.toPrecision(3));
console.log(['load', 'server', 'requests/s', 'tokens/s', 'P50 ms', 'P99 ms', 'errors'].join('\t'));
for (const load of loads) {
  const results = { ours: [], peer: [] };
  for (let round = 0; round < Number(options.rounds); round++) {
    results.ours.push(measure(options.url, load));
    if (options.peer) results.peer.push(measure(options.peer, load));
  }
  for (const [server, rounds] of Object.entries(results)) {
    if (rounds.length === 0) continue;
    const of = (field) => median(rounds.map((round) => round[field]));
    console.log([load.name, server, show(of('rate')), load.tokens ? show(of('rate') * load.tokens) : '', show(of('p50')),
      show(of('p99')), rounds.reduce((sum, round) => sum + round.errors, 0)].join('\t'));
  }
  if (!options.peer) continue;
  const ratio = (field) => median(results.ours.map((round, i) => round[field] / results.peer[i][field]));
  console.log([load.name, 'ours / peer', show(ratio('rate')), load.tokens ? show(ratio('rate')) : '', show(ratio('p50')), show(ratio('p99')), ''].join('\t'));
}
