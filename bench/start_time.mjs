// How long servers take from their start to readiness on a warm file, beside a plain read of that file:
//
//   node bench/start_time.mjs --model FILE [--rounds N] -- COMMAND... [-- COMMAND...]
//
// Each COMMAND is a server; {model} and {port} in it are replaced. The servers take turns, so that what else the
// machine does meets all of them alike. Printed for each: the median time until /health says 200, the processor time
// spent until then, both as ratios to the last server's, and the bytes of the file a second beside those of the read.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';

function fail(message) {
  console.error(message);
  process.exit(2);
}

function parse(argv) {
  const options = { rounds: 5, commands: [] };
  const split = argv.indexOf('--');
  const flags = split < 0 ? argv : argv.slice(0, split);
  for (let i = 0; i < flags.length; i += 2) options[flags[i].replace(/^--/, '')] = flags[i + 1];
  for (const word of split < 0 ? [] : argv.slice(split)) {
    if (word === '--') options.commands.push([]);
    else options.commands.at(-1).push(word);
  }
  options.rounds = Number(options.rounds);
  if (!options.model || !(options.rounds > 0) || options.commands.length === 0) fail('see the head of this file');
  return options;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function healthy(port) {
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path: '/health' }, (reply) => {
      reply.resume();
      resolve(reply.statusCode === 200);
    });
    asked.on('error', () => resolve(false));
    asked.end();
  });
}

// Seconds of all processors that a process has used.
function processorSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100; // ticks of USER_HZ
}

async function startOnce(command, model) {
  const port = await freePort();
  const [program, ...rest] = command.map((word) => word.replace('{model}', model).replace('{port}', port));
  const began = process.hrtime.bigint();
  const server = spawn(program, rest, { stdio: 'ignore' });
  const ended = new Promise((resolve) => server.on('exit', resolve));
  while (!(await healthy(port))) {
    if (server.exitCode !== null) fail(`${program} ended with status ${server.exitCode}`);
    await sleep(2);
  }
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  const processor = processorSeconds(server.pid);
  server.kill('SIGTERM');
  await ended;
  return { seconds, processor };
}

function readPlainly(path) {
  const buffer = Buffer.alloc(16 << 20);
  const file = openSync(path, 'r');
  const began = process.hrtime.bigint();
  while (readSync(file, buffer) > 0);
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  closeSync(file);
  return seconds;
}

const options = parse(process.argv.slice(2));
const bytes = statSync(options.model).size;
readPlainly(options.model); // warms the file
const reads = [];
const runs = options.commands.map(() => []);
for (let round = 0; round < options.rounds; round++) {
  reads.push(readPlainly(options.model));
  for (let i = 0; i < runs.length; i++) runs[i].push(await startOnce(options.commands[i], options.model));
}
const rate = (seconds) => `${(bytes / seconds / 1e9).toFixed(2)} GB/s`;
console.log(`plain read of ${(bytes / 1e6).toFixed(0)} MB: ${(median(reads) * 1e3).toFixed(0)} ms, ${rate(median(reads))}`);
const summary = runs.map((of) => ({
  seconds: median(of.map((run) => run.seconds)),
  processor: median(of.map((run) => run.processor)),
}));
const last = summary.at(-1);
summary.forEach(({ seconds, processor }, i) => {
  const ratio = (value, base) => (value / base).toFixed(2);
  console.log(`${options.commands[i][0]}: ready after ${(seconds * 1e3).toFixed(0)} ms (${ratio(seconds, last.seconds)} of the last), ` +
    `${processor.toFixed(2)} s of processors (${ratio(processor, last.processor)}), ${rate(seconds)}`);
});
