// The official client, unmodified, against halogen.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { demoModel, Server } from './server.mjs';

const OpenAI = await import('openai').then((module) => module.default, () => null);

describe('the official openai client', { skip: OpenAI ? false : 'the npm package openai is not installed' }, () => {
  let server;
  let client;
  before(async () => {
    server = await Server.start(demoModel, ['--served-model-name', 'demo', '--api-key', 'secret']);
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => server?.stop());

  const chat = { model: 'demo', temperature: 0, messages: [{ role: 'user', content: 'What is 12 + 30?' }] };

  test('chats', async () => {
    const reply = await client.chat.completions.create(chat);
    assert.equal(reply.choices[0].message.content, '12 + 30 = 42.');
    assert.equal(reply.choices[0].finish_reason, 'stop');
  });

  test('streams, with usage', async () => {
    let text = '';
    let usage;
    const stream = await client.chat.completions.create({ ...chat, stream: true, stream_options: { include_usage: true } });
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta?.content ?? '';
      usage = chunk.usage ?? usage;
    }
    assert.equal(text, '12 + 30 = 42.');
    assert.ok(usage.completion_tokens > 0);
  });

  test('runs the stream helper to its end', async () => {
    const runner = client.chat.completions.stream(chat);
    const final = await runner.finalChatCompletion();
    assert.equal(final.choices[0].message.content, '12 + 30 = 42.');
  });

  test('reads logprobs', async () => {
    const reply = await client.chat.completions.create({ ...chat, logprobs: true, top_logprobs: 2 });
    assert.equal(reply.choices[0].logprobs.content.length, reply.usage.completion_tokens);
    assert.ok(reply.choices[0].logprobs.content.every((entry) => entry.top_logprobs.length === 2));
  });

  test('gets n choices and stop strings', async () => {
    const reply = await client.chat.completions.create({ ...chat, n: 2, stop: ['= 42'] });
    assert.deepEqual(reply.choices.map((choice) => choice.message.content), ['12 + 30 ', '12 + 30 ']);
  });

  test('completes text', async () => {
    const reply = await client.completions.create({ model: 'demo', prompt: 'This program is free software', temperature: 0, max_tokens: 12 });
    assert.ok(reply.choices[0].text.startsWith('; you can redistribute it'), reply.choices[0].text);
  });

  test('lists models', async () => {
    const models = [];
    for await (const model of client.models.list()) models.push(model.id);
    assert.deepEqual(models, ['demo']);
    assert.equal((await client.models.retrieve('demo')).id, 'demo');
  });

  test('throws its own error classes', async () => {
    await assert.rejects(client.chat.completions.create({ ...chat, temperature: 9 }), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.equal(error.param, 'temperature');
      return true;
    });
    await assert.rejects(client.chat.completions.create({ ...chat, model: 'x' }), OpenAI.NotFoundError);
    const stranger = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'wrong', maxRetries: 0 });
    await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
  });

  test('aborts, and the server notices', async () => {
    const before = await metric('halogen_requests_cancelled_total');
    const stream = await client.completions.create(
      { model: 'demo', prompt: 'x', max_tokens: 900, stream: true, ignore_eos: true });
    let seen = 0;
    for await (const chunk of stream) if (chunk.choices.length && ++seen === 3) break; // aborts
    for (let tries = 0; tries < 200; tries++) {
      // The engine ends it after the count.
      if ((await metric('halogen_requests_cancelled_total')) > before && (await metric('halogen_requests_running')) === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.equal(await metric('halogen_requests_cancelled_total'), before + 1);
    assert.equal(await metric('halogen_requests_running'), 0);
  });

  async function metric(name) {
    const response = await fetch(`${server.url}/metrics`, { headers: { Authorization: 'Bearer secret' } });
    return Number((await response.text()).match(new RegExp(`^${name} (\\S+)$`, 'm'))[1]);
  }
});
