// What systemd hears of a server: sd_notify(3)'s messages, received by python's datagram socket.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { demoModel, Server, temporaryFolder } from './server.mjs';

const receiver = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True: print(s.recv(4096).decode(), flush=True)
`;

test('a manager hears of loading, readiness, work and the end', async (t) => {
  if (spawnSync('python3', ['--version']).status !== 0) return t.skip('python3 is not installed');
  const path = join(temporaryFolder, 'notify');
  const manager = spawn('python3', ['-c', receiver, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let heard = '';
  manager.stdout.on('data', (text) => (heard += text));
  const wait = async (pattern) => {
    for (let tries = 0; tries < 600 && !pattern.test(heard); tries++) await new Promise((done) => setTimeout(done, 50));
    assert.match(heard, pattern);
  };
  try {
    await wait(/bound/);
    const server = await Server.start(demoModel, [], { NOTIFY_SOCKET: path, WATCHDOG_USEC: '400000' });
    await wait(/STATUS=loading: .*\nREADY=1\nSTATUS=serving .*\n(.*\n)*WATCHDOG=1\nWATCHDOG=1/s);
    assert.equal(await server.stop(), 0);
    await wait(/STOPPING=1/);
  } finally {
    manager.kill();
  }
});
