// The API as a client on the wire, a browser and an operator see it: methods, errors, keys, pages of
// other origins, limits, thousands of connections, draining.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { RawClient } from './raw.mjs';
import { demoModel, Server, temporaryFolder } from './server.mjs';

// A server that does not outlive its test, however that ends.
async function startFor(t, ...how) {
  const server = await Server.start(...how);
  t.after(() => server.process.kill('SIGKILL'));
  return server;
}

const gets = ['/v1/models', '/v1/models/demo', '/metrics', '/health', '/readyz', '/livez'];
const posts = ['/v1/chat/completions', '/v1/completions', '/tokenize', '/detokenize'];
const completion = JSON.stringify({ prompt: 'x', max_tokens: 4, ignore_eos: true, temperature: 0 });

// A stream that goes on until its client leaves, for tests that do meanwhile what takes a few round
// trips: its context is many times what the model needs.
const endless = { prompt: 'x', max_tokens: 30000, ignore_eos: true, temperature: 0 };
const endlessArguments = ['--context', '32768', '--max-concurrent-requests'];

function post(path, body, headers = '') {
  return `POST ${path} HTTP/1.1\r\nHost: t\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
}

describe('methods and paths', () => {
  let server, client;
  before(async () => {
    server = await Server.start(demoModel, ['--served-model-name', 'demo']);
    client = await RawClient.connect(server.url);
  });
  after(async () => {
    client.close();
    await server.stop();
  });
  const ask = async (request, options) => {
    client.send(request);
    return client.response(options);
  };

  test('HEAD is GET without its body', async () => {
    for (const path of [...gets, '/v1/models/none', '/nowhere']) {
      const get = await ask(`GET ${path} HTTP/1.1\r\nHost: t\r\n\r\n`);
      const head = await ask(`HEAD ${path} HTTP/1.1\r\nHost: t\r\n\r\n`, { head: true });
      assert.equal(head.status, get.status, path);
      delete get.headers.date;
      delete head.headers.date;
      if (path === '/metrics') { // its figures change
        delete get.headers['content-length'];
        delete head.headers['content-length'];
      }
      assert.deepEqual(head.headers, get.headers, path);
    }
  });

  test('OPTIONS and 405 name the methods that there are', async () => {
    for (const [paths, allow] of [[gets, 'GET, HEAD, OPTIONS'], [posts, 'POST, OPTIONS'], [['*'], 'GET, HEAD, POST, OPTIONS']]) {
      for (const path of paths) {
        const options = await ask(`OPTIONS ${path} HTTP/1.1\r\nHost: t\r\n\r\n`);
        assert.equal(options.status, 204, path);
        assert.equal(options.headers.allow, allow, path);
        if (path === '*') continue;
        const wrong = await ask(`DELETE ${path} HTTP/1.1\r\nHost: t\r\n\r\n`);
        assert.equal(wrong.status, 405, path);
        assert.equal(wrong.headers.allow, allow, path);
        assert.equal(JSON.parse(wrong.body).error.code, 'method_not_allowed');
      }
    }
    assert.equal((await ask('OPTIONS /nowhere HTTP/1.1\r\nHost: t\r\n\r\n')).status, 404);
    assert.equal((await ask('GET /v1/completions HTTP/1.1\r\nHost: t\r\n\r\n')).headers.allow, 'POST, OPTIONS');
  });

  test('a path may end with a slash, have escapes and a query, or be a whole URL', async () => {
    for (const target of ['/v1/models/', '/v1/models?limit=2', '/%76%31/models', `${server.url}/v1/models`, '/v1/models/demo/']) {
      assert.equal((await ask(`GET ${target} HTTP/1.1\r\nHost: t\r\n\r\n`)).status, 200, target);
    }
    for (const target of ['/', '/v1', '/v1/modelsx', '/V1/models', '//v1/models', '/v1/../v1/models', '*']) {
      const response = await ask(`GET ${target} HTTP/1.1\r\nHost: t\r\n\r\n`);
      assert.equal(response.status, 404, target);
      assert.equal(JSON.parse(response.body).error.code, 'unknown_url');
    }
  });

  test('every kind of wrong request is answered on the same connection', async () => {
    for (const [request, status, code] of [
      ['GET /nowhere HTTP/1.1\r\nHost: t\r\n\r\n', 404, 'unknown_url'],
      ['PUT /v1/models HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n{}', 405, 'method_not_allowed'],
      ['GET /%zz HTTP/1.1\r\nHost: t\r\n\r\n', 400, 'invalid_url'],
      ['GET / HTTP/1.1\r\n\r\n', 400, 'invalid_host'],
      ['POST /v1/completions HTTP/1.1\r\nHost: t\r\n\r\n', 400, 'invalid_json'],
      [post('/v1/completions', '{'), 400, 'invalid_json'],
      [post('/v1/completions', '[]'), 400, 'invalid_type'],
      [post('/v1/completions', '{}'), 400, 'invalid_value'],
      [post('/v1/completions', '{"prompt":"x","model":"y"}'), 404, 'model_not_found'],
      [post('/v1/completions', 'xx', 'Content-Encoding: gzip\r\n'), 415, 'unsupported_content_encoding'],
      ['GET / HTTP/1.1\r\nHost: t\r\nExpect: x\r\n\r\n', 417, 'expectation_failed'],
    ]) {
      const response = await ask(request);
      assert.equal(response.status, status, request);
      assert.equal(response.headers['content-type'], 'application/json');
      assert.equal(response.headers.connection, undefined, request);
      const { error } = JSON.parse(response.body);
      assert.equal(error.code, code, request);
      assert.equal(error.type, 'invalid_request_error');
    }
    assert.equal((await ask('GET /livez HTTP/1.1\r\nHost: t\r\n\r\n')).status, 200);
  });

  test('a body that is not said to be JSON is read all the same, and named where it is not', async () => {
    assert.equal((await ask(post('/v1/completions', completion, 'Content-Type: text/plain\r\n'))).status, 200);
    const form = await ask(post('/v1/completions', 'prompt=x', 'Content-Type: application/x-www-form-urlencoded\r\n'));
    assert.match(JSON.parse(form.body).error.message, /Content-Type is 'application\/x-www-form-urlencoded', send application\/json/);
    assert.doesNotMatch(JSON.parse((await ask(post('/v1/completions', '{'))).body).error.message, /Content-Type/);
  });

  test('pipelined requests, streams among them, are answered in order', async () => {
    const stream = completion.replace('{', '{"stream":true,');
    const chunked = `POST /v1/completions HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n` +
      [...completion].map((c) => `1;x=y\r\n${c}\r\n`).join('') + '0\r\nX-Trailer: z\r\n\r\n';
    const first = await ask(post('/v1/completions', completion) + post('/v1/completions', stream) + chunked +
      'GET /v1/models/none HTTP/1.1\r\nHost: t\r\n\r\nGET /livez HTTP/1.1\r\nHost: t\r\n\r\n');
    const text = JSON.parse(first.body).choices[0].text;
    const events = (await client.response()).body.split('\n\n').filter((line) => line.startsWith('data: {'));
    assert.equal(events.map((line) => JSON.parse(line.slice(6)).choices[0].text).join(''), text);
    assert.equal(JSON.parse((await client.response()).body).choices[0].text, text);
    assert.equal((await client.response()).status, 404);
    assert.equal((await client.response()).body, '{"status":"ok"}');
  });

  test('HTTP/1.0 is answered, and streamed to by closing', async () => {
    const old = await RawClient.connect(server.url);
    old.send(post('/v1/completions', completion.replace('{', '{"stream":true,')).replace('HTTP/1.1', 'HTTP/1.0'));
    await old.closed();
    const text = old.received.toString();
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
    assert.doesNotMatch(text, /Transfer-Encoding/);
    assert.ok(text.endsWith('data: [DONE]\n\n'));
  });
});

describe('keys', () => {
  const key = 'key-from-the-profile', filed = 'key-from-the-file', exported = 'key-from-the-environment';
  let server, client;
  before(async () => {
    const file = join(temporaryFolder, 'keys');
    writeFileSync(file, `# of the chat UI\n${filed}\n`);
    const config = join(temporaryFolder, 'keys.toml');
    writeFileSync(config, `[server]\napi_key_file = "${file}"\n`);
    server = await Server.start(demoModel, ['--config', config, '--api-key', key, '--log-level', 'debug']);
    client = await RawClient.connect(server.url);
  });
  after(async () => {
    client.close();
    await server.stop();
    for (const secret of [key, filed]) assert.ok(!server.log.includes(secret), 'a key is in the log');
  });

  test('any of them opens the API, in either header', async () => {
    for (const headers of [{ Authorization: `Bearer ${key}` }, { Authorization: `bearer ${filed}` }, { 'x-api-key': key }]) {
      assert.equal((await fetch(`${server.url}/v1/models`, { headers })).status, 200);
      assert.equal((await server.post('/v1/completions', completion, { headers })).status, 200);
    }
  });

  test('without one there is a challenge, and the health endpoints', async () => {
    for (const [headers, challenge] of [
      [{}, 'Bearer realm="halogen"'],
      [{ Authorization: 'Bearer wrong' }, 'Bearer realm="halogen", error="invalid_token"'],
      [{ 'x-api-key': `${key}x` }, 'Bearer realm="halogen", error="invalid_token"'],
      [{ Authorization: `Basic ${btoa(`user:${key}`)}` }, 'Bearer realm="halogen", error="invalid_token"']]) {
      for (const path of ['/v1/models', '/v1/models/demo', '/metrics']) {
        const response = await fetch(server.url + path, { headers });
        assert.equal(response.status, 401, path);
        assert.equal(response.headers.get('www-authenticate'), challenge);
        const { error } = await response.json();
        assert.equal(error.type, 'authentication_error');
        assert.equal(error.code, 'invalid_api_key');
      }
      assert.equal((await server.post('/v1/completions', completion, { headers })).status, 401);
    }
    for (const path of ['/health', '/readyz', '/livez']) assert.equal((await fetch(server.url + path)).status, 200);
    assert.equal((await fetch(`${server.url}/v1/models`, { method: 'OPTIONS' })).status, 204);
  });

  test('a body is invited where the head is right, and only there', async () => {
    const head = (path, headers = '') =>
      `POST ${path} HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: ${completion.length}\r\n${headers}\r\n`;
    client.send(head('/v1/completions', `x-api-key: ${key}\r\n`));
    assert.equal((await client.response()).status, 100);
    client.send(completion);
    assert.equal((await client.response()).status, 200);
    for (const [path, headers, status] of [
      ['/v1/completions', '', 401], ['/v1/completions', 'x-api-key: wrong\r\n', 401], ['/nowhere', '', 404],
      ['/v1/models', `x-api-key: ${key}\r\n`, 405]]) {
      const refused = await RawClient.connect(server.url);
      refused.send(head(path, headers));
      const response = await refused.response();
      assert.equal(response.status, status);
      assert.equal(response.headers.connection, 'close');
      await refused.closed();
    }
  });

  test('the environment gives keys too', async (t) => {
    const other = await startFor(t, demoModel, [], { HALOGEN_API_KEYS: `${exported}:another` });
    for (const each of [exported, 'another']) {
      assert.equal((await fetch(`${other.url}/v1/models`, { headers: { 'x-api-key': each } })).status, 200);
    }
    assert.equal((await fetch(`${other.url}/v1/models`)).status, 401);
    await other.stop();
  });
});

describe('pages of other origins', () => {
  const origin = 'https://chat.example.org';
  let server, client;
  before(async () => {
    server = await Server.start(demoModel, ['--api-key', 'k', '--cors-origin', origin, '--cors-origin', 'same-host']);
    client = await RawClient.connect(server.url);
  });
  after(async () => {
    client.close();
    await server.stop();
  });

  test('may ask before they send, without a key and for any path', async () => {
    for (const path of ['/v1/chat/completions', '/v1/models', '/nowhere']) {
      client.send(`OPTIONS ${path} HTTP/1.1\r\nHost: t\r\nOrigin: ${origin}\r\nAccess-Control-Request-Method: POST\r\n` +
        'Access-Control-Request-Headers: authorization,content-type\r\n\r\n');
      const { status, headers } = await client.response();
      assert.equal(status, 204);
      assert.equal(headers['access-control-allow-origin'], origin);
      assert.equal(headers['access-control-allow-headers'], 'authorization,content-type');
      assert.match(headers['access-control-allow-methods'], /POST/);
    }
  });

  test('can read streams and errors alike', async () => {
    const key = { Authorization: 'Bearer k', Origin: origin };
    const stream = completion.replace('{', '{"stream":true,');
    for (const [body, headers, status] of [[completion, key, 200], [stream, key, 200], ['{', key, 400], [completion, { Origin: origin }, 401]]) {
      const response = await server.post('/v1/completions', body, { headers });
      assert.equal(response.status, status);
      assert.equal(response.headers.get('access-control-allow-origin'), origin);
      await response.text();
    }
  });

  test('of the same host are allowed on every port, strangers are not', async () => {
    const { hostname } = new URL(server.url);
    for (const [from, allowed] of [[`http://${hostname}:3000`, `http://${hostname}:3000`], ['http://evil.example', null], ['null', null]]) {
      const response = await fetch(`${server.url}/livez`, { headers: { Origin: from } });
      assert.equal(response.headers.get('access-control-allow-origin'), allowed);
      assert.equal(response.headers.get('vary'), 'Origin');
      assert.equal(response.headers.get('access-control-allow-credentials'), null);
    }
    const headers = { Authorization: 'Bearer k', Origin: 'http://evil.example', 'Content-Type': 'text/plain' };
    const refused = await server.post('/v1/completions', completion, { headers });
    assert.equal(refused.status, 403);
    assert.equal((await refused.json()).error.code, 'origin_not_allowed');
  });
});

describe('limits', () => {
  test('what a client may send and how slowly is set in the profile', async (t) => {
    const server = await startFor(t, demoModel, ['--header-limit', '2K', '--body-limit', '4K', '--header-timeout', '300ms',
      '--body-timeout', '300ms', '--idle-timeout', '300ms']);
    for (const [request, status, code] of [
      [`GET / HTTP/1.1\r\nHost: t\r\nX: ${'x'.repeat(2048)}\r\n\r\n`, 431, 'headers_too_large'],
      [`GET / HTTP/1.1\r\nHost: t\r\n${'X: yyyyyyy\r\n'.repeat(220)}\r\n`, 431, 'headers_too_large'],
      [`GET / HTTP/1.1\r\nHost: t\r\n${'X:\r\n'.repeat(300)}\r\n`, 431, 'too_many_headers'],
      ['POST /v1/completions HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n\r\n', 413, 'body_too_large'],
      ['GET / HTTP/1.1\r\nHost:', 408, 'request_timeout'],
      ['POST /v1/completions HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\n{', 408, 'request_timeout']]) {
      const client = await RawClient.connect(server.url);
      client.send(request);
      const response = await client.response();
      assert.equal(response.status, status);
      assert.equal(JSON.parse(response.body).error.code, code);
      assert.equal(response.headers.connection, 'close');
      client.close();
    }
    for (const first of ['', 'GET /livez HTTP/1.1\r\nHost: t\r\n\r\n']) { // silent from the start, or between requests
      const client = await RawClient.connect(server.url);
      client.send(first);
      await client.closed();
    }
    await server.stop();
  });

  test('a client that does not read its stream loses it, and its request ends', async (t) => {
    const server = await startFor(t, demoModel, ['--write-timeout', '100ms']);
    // A large answer soon: the log-probabilities of 20 tokens at each of 900 positions, sixteen times.
    const body = JSON.stringify({ prompt: 'x', max_tokens: 900, ignore_eos: true, stream: true, logprobs: 20, n: 16 });
    const client = await RawClient.connect(server.url);
    client.socket.pause();
    client.send(post('/v1/completions', body));
    const becomes = async (name, right) => {
      while (!right(await server.metric(name))) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    // Some of the sixteen may be complete before the buffers between them and the client are full.
    await becomes('halogen_requests_cancelled_total', (count) => count > 0);
    await becomes('halogen_requests_running', (count) => count === 0);
    await becomes('halogen_kv_blocks_used', (count) => count === 0);
    client.close();
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
    await server.stop();
  });

  test('a full queue says when to come back', async (t) => {
    const server = await startFor(t, demoModel, [...endlessArguments, '1', '--queue-limit', '0']);
    const stream = server.stream('/v1/completions', endless);
    await stream.next();
    const refused = await server.post('/v1/completions', completion);
    assert.equal(refused.status, 429);
    assert.match(refused.headers.get('retry-after'), /^[1-9]\d?$/);
    const { error } = await refused.json();
    assert.equal(error.code, 'queue_full');
    assert.equal(error.type, 'rate_limit_error');
    await stream.return();
    await server.stop();
  });

  test('five thousand idle connections cost little and hold nobody up', async (t) => {
    const server = await startFor(t, demoModel);
    const idle = [];
    const before = server.residentBytes();
    for (let opened = 0; opened < 5000; opened += 250) {
      idle.push(...await Promise.all(Array.from({ length: 250 }, () => RawClient.connect(server.url))));
    }
    for (const client of idle) client.send('GET /livez HTTP/1.1\r\nHost: t\r\n\r\n');
    for (const client of idle) assert.equal((await client.response()).status, 200);
    const each = (server.residentBytes() - before) / idle.length;
    assert.ok(await server.metric('halogen_http_connections') >= idle.length);
    if (process.env.HALOGEN_SANITIZED !== '1') assert.ok(each < 4096, `${each} bytes a connection`);
    assert.equal((await server.ask('/v1/completions', JSON.parse(completion))).usage.completion_tokens, 4);
    for (let i = 0; i < idle.length; i += 100) {
      idle[i].send('GET /livez HTTP/1.1\r\nHost: t\r\n\r\n');
      assert.equal((await idle[i].response()).status, 200);
    }
    for (const client of idle) client.close();
    await server.stop();
  });
});

describe('draining', () => {
  test('streams end, idle connections close, and whoever comes is told to go elsewhere', async (t) => {
    const server = await startFor(t, demoModel, [...endlessArguments, '2', '--drain-timeout', '10m']);
    const idle = await RawClient.connect(server.url);
    idle.send('GET /livez HTTP/1.1\r\nHost: t\r\n\r\n');
    await idle.response();
    const holder = server.stream('/v1/completions', endless);
    const stream = server.stream('/v1/completions', { prompt: 'x', max_tokens: 100, ignore_eos: true, temperature: 0 });
    await Promise.all([holder.next(), stream.next()]);
    const exited = server.stop();
    await idle.closed();
    const late = await RawClient.connect(server.url);
    late.send(post('/v1/completions', completion));
    const refused = await late.response();
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.connection, 'close');
    assert.match(refused.headers['retry-after'], /^\d+$/);
    assert.equal(JSON.parse(refused.body).error.code, 'unavailable');
    await late.closed();
    const ready = await fetch(`${server.url}/readyz`);
    assert.equal(ready.status, 503);
    assert.equal((await ready.json()).status, 'draining');
    let reason;
    for await (const chunk of stream) reason = chunk.choices[0].finish_reason ?? reason;
    assert.equal(reason, 'length');
    await holder.return();
    assert.equal(await exited, 0);
  });

  test('the drain timeout bounds it', async (t) => {
    const server = await startFor(t, demoModel, ['--drain-timeout', '0s']);
    const response = await server.post('/v1/completions', { prompt: 'x', max_tokens: 900, ignore_eos: true, stream: true, n: 16 });
    const reader = response.body.getReader();
    await reader.read();
    const exited = server.stop();
    let text = '';
    for (let part; !(part = await reader.read()).done;) text += new TextDecoder().decode(part.value);
    assert.match(text, /"code":"shutting_down"/);
    assert.equal(await exited, 0);
  });
});
