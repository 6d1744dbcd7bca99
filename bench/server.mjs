// A halogen server for a benchmark: started on a free port of the loopback, with what it counts.
import { spawn } from 'node:child_process';

export class Server {
  // Resolves when the server is ready; throws its log when it ends before that.
  static async start(program, args) {
    const server = new Server();
    server.process = spawn(program, ['serve', '--port', '0', ...args], { stdio: ['ignore', 'inherit', 'pipe'] });
    let log = '';
    server.process.stderr.on('data', (text) => (log = (log + text).slice(-20000)));
    let ended = false;
    server.process.on('close', () => (ended = true));
    for (;;) {
      if (ended) throw new Error(log);
      server.url ??= log.match(/listening on (http:\/\/[\d.]+:\d+)/)?.[1];
      if (server.url && (await fetch(`${server.url}/readyz`).catch(() => ({}))).ok) return server;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async metric(name) {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))?.[1]);
  }

  stop() {
    this.process.kill('SIGTERM');
  }
}
