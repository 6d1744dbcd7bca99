// A halogen server for a test: started on a free port of the loopback, stopped when the test is done.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const program = process.env.HALOGEN_PROGRAM;
export const pluginFolder = process.env.HALOGEN_PLUGINS;
export const dataFolder = process.env.HALOGEN_DATA;
export const sourceFolder = process.env.HALOGEN_SOURCE;
export const demoModel = join(sourceFolder, 'models', 'demo-15m-q4_k_m.gguf');
export const temporaryFolder = mkdtempSync(join(tmpdir(), 'halogen-test-'));

export const data = (path) => join(dataFolder, path);
export const haveData = (path) => existsSync(data(path));
export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

const kStartSeconds = 120; // a sanitizer's build on a busy machine

export class Server {
  // Resolves when the server is ready; rejects with its log when it ends before that.
  static async start(model, args = [], environment = {}) {
    const server = new Server();
    server.log = '';
    server.process = spawn(program, ['serve', '--model', model, '--port', '0', ...args], {
      env: { ...process.env, HALOGEN_PLUGIN_PATH: pluginFolder, ...environment },
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    server.process.stderr.on('data', (text) => (server.log += text));
    server.exited = new Promise((resolve) => server.process.on('close', resolve));
    let ended = false;
    server.exited.then(() => (ended = true));
    for (let tries = 0; tries < kStartSeconds * 20; tries++) {
      if (ended) throw new Error(`the server ended:\n${server.log}`);
      server.url ??= server.log.match(/listening on (http:\/\/[\d.]+:\d+)/)?.[1];
      if (server.url && (await fetch(`${server.url}/readyz`).catch(() => ({}))).ok) return server;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    server.process.kill('SIGKILL');
    throw new Error(`the server did not get ready:\n${server.log}`);
  }

  // Sends SIGTERM and resolves with the exit status.
  async stop() {
    this.process.kill('SIGTERM');
    return this.exited;
  }

  async post(path, body, options = {}) {
    return fetch(this.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...options.headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      signal: options.signal,
    });
  }

  // A reply's JSON; throws with the reply's text where the status is not 200.
  async ask(path, body) {
    const response = await this.post(path, body);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    return JSON.parse(text);
  }

  // The events of a stream, as parsed JSON, without the closing [DONE], which must be there.
  async *stream(path, body, options = {}) {
    const response = await this.post(path, { ...body, stream: true }, options);
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    let buffered = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body) {
      buffered += decoder.decode(bytes, { stream: true });
      for (let end; (end = buffered.indexOf('\n\n')) >= 0; buffered = buffered.slice(end + 2)) {
        const event = buffered.slice(0, end);
        if (event === 'data: [DONE]') return;
        if (event.startsWith('data: ')) yield JSON.parse(event.slice(6));
      }
    }
    throw new Error('the stream ended without [DONE]');
  }

  async metric(name) {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))?.[1]);
  }

  // Resident memory in bytes.
  residentBytes() {
    const status = readFileSync(`/proc/${this.process.pid}/status`, 'utf8');
    return Number(status.match(/VmRSS:\s+(\d+)/)[1]) * 1024;
  }
}
