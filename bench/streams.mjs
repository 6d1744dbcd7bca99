#!/usr/bin/env node
// What clients of a running server see while others are served, beside another server that speaks
// the same API, in turns.
//
//   node bench/streams.mjs --url http://127.0.0.1:8080 [--peer http://127.0.0.1:8090]
//        [--rounds 3] [--long 8000] [--prefix 3000] [--vocabulary 100000] [--token 264]
//        [--key KEY] [--only burst,newcomer,flow,throughput,prefix] [--json FILE]
//
//   burst       8 prompts of 128 tokens at once: time to first token
//   newcomer    a prompt of 50 tokens half a second into one of --long tokens: time to first token
//   flow        7 streams while a prompt of --long tokens arrives: time between tokens, and how long
//               the prompt takes beside them
//   throughput  tokens a second of 1, 4, 8 and 16 streams together, their short prompts included
//   prefix      two prompts that share --prefix tokens, one after the other: time to first token
//
// In every round each server is measured once, so that what else the machine does meets both; the
// table has the medians of the rounds. Prompts are random token ids below --vocabulary, new in every
// round, so that no cache has them (but in `prefix`). Answers repeat the one token --token, which a
// bias makes certain: it should be plain text, whose length tells how many tokens an event has. Both
// servers want a context of at least --long tokens for one sequence, and eight sequences.
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    url: { type: 'string' },
    peer: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    long: { type: 'string', default: '8000' },
    prefix: { type: 'string', default: '3000' },
    vocabulary: { type: 'string', default: '100000' },
    token: { type: 'string', default: '264' },
    key: { type: 'string' },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
  },
});
if (!options.url) {
  console.error('usage: node bench/streams.mjs --url URL [--peer URL] [--rounds N] [--long N] [--prefix N] [--vocabulary N] [--token ID] [--key KEY] [--only LOADS] [--json FILE]');
  process.exit(64);
}
const long = Number(options.long);

// Ids below 1000 are often bytes and control tokens.
const randomTokens = (count) =>
  Array.from({ length: count }, () => 1000 + Math.floor(Math.random() * (Number(options.vocabulary) - 1000)));

// Characters of --token, by server; found before the first load.
const widths = {};

// One streamed completion. `times` has when each token came, in milliseconds since it was sent.
class Stream {
  constructor(url, prompt, tokens) {
    this.url = url;
    this.prompt = prompt;
    this.tokens = tokens;
    this.times = [];
    this.text = '';
    this.abort = new AbortController();
    this.sent = performance.now();
    this.ended = false;
    this.done = this.#run().finally(() => (this.ended = true));
    this.done.catch(() => {});
  }

  async #run() {
    const response = await fetch(`${this.url}/v1/completions`, {
      method: 'POST',
      signal: this.abort.signal,
      headers: { 'Content-Type': 'application/json', ...(options.key && { Authorization: `Bearer ${options.key}` }) },
      body: JSON.stringify({
        prompt: this.prompt,
        max_tokens: this.tokens,
        temperature: 0,
        logit_bias: { [options.token]: 100 },
        ignore_eos: true,
        stream: true,
      }),
    });
    if (!response.ok) throw new Error(`${this.url}: ${response.status} ${await response.text()}`);
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of response.body) {
      const now = performance.now() - this.sent;
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        if (!line.startsWith('data: {')) continue;
        const event = JSON.parse(line.slice(6));
        if (event.error) throw new Error(`${this.url}: ${event.error.message}`);
        this.text += event.choices?.[0]?.text ?? '';
        const tokens = Math.ceil(this.text.length / (widths[this.url] ?? Infinity));
        while (this.times.length < Math.min(tokens, this.tokens)) this.times.push(now);
      }
    }
  }

  // Until it has `count` tokens.
  async has(count) {
    while (this.times.length < count && !this.ended) await Promise.race([this.done, sleep(1)]);
    if (this.times.length < count)
      throw new Error(`${this.url}: an answer ended after ${this.times.length} of ${count} tokens; is --token ${options.token} plain text?`);
  }

  async cancel() {
    this.abort.abort();
    await this.done.catch(() => {});
  }

  get first() {
    return this.times[0];
  }
  // When each token came, on the clock.
  get moments() {
    return this.times.map((time) => this.sent + time);
  }
}

// What was cancelled may still be in a step.
async function settle(url) {
  await new Stream(url, randomTokens(4), 2).has(2);
  await sleep(100);
}

function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = Math.floor(place);
  return sorted[below] + (sorted[Math.min(below + 1, sorted.length - 1)] - sorted[below]) * (place - below);
}
const median = (numbers) => quantile(numbers, 0.5);

async function burst(url) {
  const streams = Array.from({ length: 8 }, () => new Stream(url, randomTokens(128), 16));
  await Promise.all(streams.map((stream) => stream.done));
  const firsts = streams.map((stream) => stream.first);
  return { 'median TTFT ms': median(firsts), 'first TTFT ms': Math.min(...firsts), 'last TTFT ms': Math.max(...firsts) };
}

async function newcomer(url) {
  const running = new Stream(url, randomTokens(long), 1);
  await sleep(500);
  const short = new Stream(url, randomTokens(50), 4);
  await short.has(1);
  await running.cancel();
  await short.done;
  return { 'TTFT ms': short.first };
}

async function flow(url) {
  const streams = Array.from({ length: 7 }, () => new Stream(url, randomTokens(16), 4000));
  await Promise.all(streams.map((stream) => stream.has(8)));
  const arrival = new Stream(url, randomTokens(long), 1);
  await arrival.has(1);
  const end = arrival.sent + arrival.first;
  // Those that were waited for when the prompt was done are seen to their end.
  await Promise.race([Promise.all(streams.map((stream) => stream.has(stream.times.length + 1))), sleep(60_000)]);
  const intervals = streams.flatMap(({ moments }) =>
    moments.slice(1).map((moment, i) => [moments[i], moment]).filter(([from, to]) => to > arrival.sent && from < end).map(([from, to]) => to - from));
  await Promise.all(streams.map((stream) => stream.cancel()));
  return {
    'P50 interval ms': quantile(intervals, 0.5),
    'P99 interval ms': quantile(intervals, 0.99),
    'max interval ms': Math.max(...intervals),
    'TTFT of the prompt ms': arrival.first,
  };
}

async function throughput(url) {
  const figures = {};
  for (const count of [1, 4, 8, 16]) {
    const begun = performance.now();
    const streams = Array.from({ length: count }, () => new Stream(url, randomTokens(16), 64));
    await Promise.all(streams.map((stream) => stream.done));
    const tokens = streams.reduce((sum, stream) => sum + stream.times.length, 0);
    figures[`${count} streams, tok/s`] = (1000 * tokens) / (performance.now() - begun);
  }
  return figures;
}

async function prefix(url) {
  const shared = randomTokens(Number(options.prefix));
  const ask = async () => {
    const stream = new Stream(url, [...shared, ...randomTokens(16)], 4);
    await stream.done;
    return stream.first;
  };
  const first = await ask();
  const second = await ask();
  return { 'first TTFT ms': first, 'second TTFT ms': second, 'first / second': first / second };
}

const all = { burst, newcomer, flow, throughput, prefix };
const chosen = options.only ? options.only.split(',') : Object.keys(all);
for (const name of chosen) {
  if (all[name]) continue;
  console.error(`there is no load "${name}"; there are ${Object.keys(all).join(', ')}`);
  process.exit(64);
}
const servers = { ours: options.url, ...(options.peer && { peer: options.peer }) };
for (const url of Object.values(servers)) {
  const stream = new Stream(url, randomTokens(100), 64); // which also warms the server
  await stream.done;
  widths[url] = stream.text.length / 64;
}

const results = {};
for (let round = 0; round < Number(options.rounds); round++) {
  const order = Object.entries(servers);
  if (round % 2) order.reverse();
  for (const name of chosen) {
    for (const [server, url] of order) {
      const figures = await all[name](url);
      await settle(url);
      for (const [figure, value] of Object.entries(figures)) (((results[name] ??= {})[figure] ??= {})[server] ??= []).push(value);
    }
  }
}

const show = (number) => (number === undefined ? '' : Math.abs(number) >= 100 ? number.toFixed(0) : number.toPrecision(3));
const rows = [];
for (const [load, figures] of Object.entries(results)) {
  for (const [figure, { ours, peer }] of Object.entries(figures)) {
    const ratio = peer && median(ours.map((value, i) => value / peer[i]));
    rows.push({ load, figure, ours: median(ours), ...(peer && { peer: median(peer), ratio }), rounds: { ours, peer } });
  }
}
console.log(['load', 'figure', 'ours', ...(options.peer ? ['peer', 'ours / peer'] : [])].join('\t'));
for (const { load, figure, ours, peer, ratio } of rows)
  console.log([load, figure, show(ours), ...(options.peer ? [show(peer), show(ratio)] : [])].join('\t'));
if (options.json) writeFileSync(options.json, JSON.stringify({ options: { ...options, key: undefined }, rows }, null, 2) + '\n');
