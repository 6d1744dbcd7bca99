// Starting and stopping: what is loaded, what a missing plugin says, how a server drains.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { demoModel, pluginFolder, program, Server, temporaryFolder } from './server.mjs';

// Runs the program to its end.
function run(args, environment = {}) {
  return spawnSync(program, args, {
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, HALOGEN_PLUGIN_PATH: pluginFolder, ...environment },
  });
}

test('the core links no vendor library and no plugin', () => {
  const libraries = execFileSync('ldd', [program], { encoding: 'utf8' });
  assert.doesNotMatch(libraries, /hip|hsa|rocm|vulkan|cuda|OpenCL|gguf|sampler|scheduler|halogen/i);
});

test('a plugin whose file is gone is named with its manifest and its package', () => {
  for (const [name, word, packageName] of [
    ['cpu', 'backend', 'halogen-backend-cpu'], ['gguf', 'loader', 'halogen-loader-gguf'],
    ['sampler', 'sampler', 'halogen-sampler'], ['scheduler', 'scheduler', 'halogen-scheduler']]) {
    const folder = join(temporaryFolder, `without-${name}`);
    cpSync(pluginFolder, folder, { recursive: true });
    rmSync(join(folder, `${name}.so`));
    const { status, stderr } = run(['serve', '--model', demoModel, '--port', '0'], { HALOGEN_PLUGIN_PATH: folder });
    assert.equal(status, 1, stderr);
    assert.ok(stderr.includes(`org.halogen.${name}`), stderr);
    assert.ok(stderr.includes(join(folder, `${name}.toml`)), stderr);
    assert.ok(stderr.includes(packageName), `${word}: ${stderr}`);
  }
});

test('an unknown backend lists what there is', () => {
  const { status, stderr } = run(['serve', '--model', demoModel, '--port', '0', '--backend', 'rocm']);
  assert.equal(status, 1);
  assert.match(stderr, /rocm/);
  assert.match(stderr, /halogen-backend-rocm/);
});

test('halogen plugins lists the four', () => {
  const { status, stdout } = run(['plugins']);
  assert.equal(status, 0);
  for (const name of ['cpu', 'gguf', 'sampler', 'scheduler']) assert.ok(stdout.includes(`org.halogen.${name}`), stdout);
});

test('halogen run answers in the terminal', () => {
  const { status, stdout, stderr } = run(['run', demoModel, 'What is 12 + 30?', '--temperature', '0']);
  assert.equal(status, 0, stderr);
  assert.equal(stdout, '12 + 30 = 42.\n');
});

test('a wrong key is reported with file, line and the nearest key', () => {
  const file = join(temporaryFolder, 'wrong.toml');
  writeFileSync(file, '[server]\nprot = 8081\n');
  const { status, stderr } = run(['serve', '--config', file, '--model', demoModel]);
  assert.equal(status, 1);
  assert.ok(stderr.includes(`${file}:2`), stderr);
  assert.match(stderr, /port/);
});

test('a model that is no model says what it looks like and what to do', () => {
  const folder = join(temporaryFolder, 'models');
  mkdirSync(folder);
  for (const [name, bytes, says] of [
    ['model.bin', Buffer.from('PK\x03\x04xxxx'), /PyTorch/],
    ['empty.gguf', Buffer.alloc(0), /empty/],
    ['lfs.gguf', Buffer.from('version https://git-lfs.github.com/spec/v1\n'), /git lfs pull/],
    ['short.gguf', Buffer.from('GGUF\x03\x00\x00'), /short\.gguf/]]) {
    writeFileSync(join(folder, name), bytes);
    const { status, stderr } = run(['serve', '--model', join(folder, name), '--port', '0']);
    assert.equal(status, 1);
    assert.match(stderr, says);
  }
  const { stderr } = run(['serve', '--model', '/nowhere/model.gguf', '--port', '0']);
  assert.match(stderr, /no such file/);
});

test('flags of features that come later are refused, not ignored', () => {
  for (const flags of [['--isolation', 'process']]) {
    const { status, stderr } = run(['serve', '--model', demoModel, '--port', '0', ...flags]);
    assert.notEqual(status, 0, flags.join(' '));
    assert.match(stderr, /not available in this version/, flags.join(' '));
  }
});

test('SIGTERM lets a running stream finish and refuses new requests', async () => {
  const server = await Server.start(demoModel);
  const stream = server.stream('/v1/completions', { prompt: 'x', max_tokens: 300, ignore_eos: true, temperature: 0 });
  const first = await stream.next();
  assert.ok(first.value.choices);
  const exited = server.stop();
  let reason;
  for await (const chunk of stream) reason = chunk.choices[0].finish_reason ?? reason;
  assert.equal(reason, 'length');
  assert.equal(await exited, 0);
});

test('a second SIGTERM ends streams with an error event', async () => {
  const server = await Server.start(demoModel);
  const response = await server.post('/v1/completions', {
    prompt: 'x', max_tokens: 900, ignore_eos: true, stream: true, n: 16 });
  const reader = response.body.getReader();
  await reader.read();
  server.process.kill('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 100));
  server.process.kill('SIGTERM');
  let text = '';
  for (let part; !(part = await reader.read()).done;) text += new TextDecoder().decode(part.value);
  assert.match(text, /"code":"shutting_down"/);
  assert.equal(await server.exited, 0);
});

test('two signals while the model is loading end the server in order', async () => {
  for (const delay of [0, 5, 10, 20, 40]) {
    const child = spawn(program, ['serve', '--model', demoModel, '--port', '0', '--max-concurrent-requests', '64'], {
      env: { ...process.env, HALOGEN_PLUGIN_PATH: pluginFolder }, stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    child.stderr.on('data', (bytes) => (log += bytes));
    const exited = new Promise((resolve) => child.on('close', (status, signal) => resolve(signal ?? status)));
    while (!log.includes('listening')) await new Promise((resolve) => setTimeout(resolve, 1));
    await new Promise((resolve) => setTimeout(resolve, delay));
    child.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 2));
    child.kill('SIGTERM');
    assert.equal(await exited, 0, log);
  }
});

test('a command of a later version says so', () => {
  const { status, stderr } = run(['doctor']);
  assert.equal(status, 64);
  assert.match(stderr, /'doctor' is not available in this version/);
});

test('a chat template that does not work is named', () => {
  const file = join(temporaryFolder, 'broken.jinja');
  writeFileSync(file, '{% if %}');
  const { status, stderr } = run(['serve', '--model', demoModel, '--port', '0', '--chat-template', file]);
  assert.equal(status, 1);
  assert.ok(stderr.includes(file), stderr);
  assert.match(stderr, /line 1/);
});

test('a server that cannot listen says why', async () => {
  const server = await Server.start(demoModel);
  const { status, stderr } = run(['serve', '--model', demoModel, '--port', new URL(server.url).port]);
  assert.equal(status, 1);
  assert.match(stderr, /in use/);
  await server.stop();
});
