// The endpoints by themselves, on the demo model: exact replies, and an error that names the parameter for
// everything that is wrong with a request.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { demoModel, Server } from './server.mjs';

let server;
before(async () => (server = await Server.start(demoModel, ['--served-model-name', 'demo', '--served-model-name', 'alias'])));
after(async () => assert.equal(await server.stop(), 0));

const hello = { messages: [{ role: 'user', content: 'Count from 3 to 9.' }], temperature: 0 };
const answer = '3, 4, 5, 6, 7, 8, 9.';

async function collect(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

describe('chat completions', () => {
  test('answer whole', async () => {
    const reply = await server.ask('/v1/chat/completions', { ...hello, model: 'alias' });
    assert.match(reply.id, /^chatcmpl-[0-9A-Za-z]{24}$/);
    assert.equal(reply.object, 'chat.completion');
    assert.equal(reply.model, 'demo');
    assert.deepEqual(reply.choices[0].message, { role: 'assistant', content: answer, refusal: null });
    assert.equal(reply.choices[0].finish_reason, 'stop');
    assert.equal(reply.usage.total_tokens, reply.usage.prompt_tokens + reply.usage.completion_tokens);
  });

  test('stream the same text, role first, reason last, usage where asked for', async () => {
    const chunks = await collect(server.stream('/v1/chat/completions', {
      ...hello, stream_options: { include_usage: true },
    }));
    assert.deepEqual(chunks[0].choices[0].delta, { role: 'assistant', content: '' });
    const usage = chunks.pop();
    assert.deepEqual(usage.choices, []);
    assert.ok(usage.usage.completion_tokens > 0);
    assert.ok(chunks.every((chunk) => chunk.usage === null && chunk.object === 'chat.completion.chunk'));
    assert.equal(chunks.map((chunk) => chunk.choices[0].delta.content ?? '').join(''), answer);
    assert.deepEqual(chunks.map((chunk) => chunk.choices[0].finish_reason).filter(Boolean), ['stop']);
    assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
  });

  test('end at a stop string that crosses tokens, without showing it', async () => {
    const reply = await server.ask('/v1/chat/completions', { ...hello, stop: [', 6, 7', 'never'] });
    assert.equal(reply.choices[0].message.content, '3, 4, 5');
    assert.equal(reply.choices[0].finish_reason, 'stop');
    const chunks = await collect(server.stream('/v1/chat/completions', { ...hello, stop: '5, 6' }));
    assert.equal(chunks.map((chunk) => chunk.choices[0].delta.content ?? '').join(''), '3, 4, ');
  });

  test('end at max_tokens, by either name', async () => {
    for (const name of ['max_tokens', 'max_completion_tokens']) {
      const reply = await server.ask('/v1/chat/completions', { ...hello, [name]: 4 });
      assert.equal(reply.choices[0].finish_reason, 'length');
      assert.equal(reply.usage.completion_tokens, 4);
    }
  });

  test('give n choices, alike when greedy and by seed when not', async () => {
    const greedy = await server.ask('/v1/chat/completions', { ...hello, n: 3 });
    assert.deepEqual(greedy.choices.map((choice) => [choice.index, choice.message.content]),
      [[0, answer], [1, answer], [2, answer]]);
    const random = { messages: [{ role: 'user', content: 'Tell me a story.' }], n: 2, seed: 7, temperature: 1.5, max_tokens: 24 };
    const first = await server.ask('/v1/chat/completions', random);
    const second = await server.ask('/v1/chat/completions', random);
    assert.deepEqual(first.choices, second.choices);
    assert.notEqual(first.choices[0].message.content, first.choices[1].message.content);
  });

  test('list logprobs that are probabilities, the chosen token first when greedy', async () => {
    const reply = await server.ask('/v1/chat/completions', { ...hello, logprobs: true, top_logprobs: 5 });
    const entries = reply.choices[0].logprobs.content;
    assert.equal(entries.length, reply.usage.completion_tokens);
    const text = Buffer.concat(entries.map((entry) => Buffer.from(entry.bytes))).toString();
    assert.equal(text, answer + '<|im_end|>');
    for (const entry of entries) {
      assert.equal(entry.top_logprobs.length, 5);
      assert.equal(entry.top_logprobs[0].token, entry.token);
      assert.equal(entry.top_logprobs[0].logprob, entry.logprob);
      const total = entry.top_logprobs.reduce((sum, each) => sum + Math.exp(each.logprob), 0);
      assert.ok(total > 0 && total <= 1 + 1e-5);
    }
  });

  test('obey logit_bias', async () => {
    const { tokens } = await server.ask('/tokenize', { prompt: '3' });
    const reply = await server.ask('/v1/chat/completions', { ...hello, max_tokens: 3, logit_bias: { [tokens[0]]: -100 } });
    assert.ok(!reply.choices[0].message.content.includes('3'));
  });

  test('take any 64-bit seed', async () => {
    const body = `{"messages":${JSON.stringify(hello.messages)},"max_tokens":2,"seed":9223372036854775807}`;
    assert.equal((await server.post('/v1/chat/completions', body)).status, 200);
    assert.equal((await server.post('/v1/chat/completions', body.replace('807}', '808}'))).status, 400);
  });

  test('leave tools out where none may be called', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
    const reply = await server.ask('/v1/chat/completions', { ...hello, tools, tool_choice: 'none' });
    assert.equal(reply.choices[0].message.content, answer);
  });

  test('join text parts', async () => {
    const parts = [{ type: 'text', text: 'Count from' }, { type: 'text', text: '3 to 9.' }];
    const joined = await server.ask('/tokenize', { messages: [{ role: 'user', content: parts }] });
    const plain = await server.ask('/tokenize', { messages: [{ role: 'user', content: 'Count from\n3 to 9.' }] });
    assert.deepEqual(joined.tokens, plain.tokens);
  });
});

describe('text completions', () => {
  test('take text, token ids and lists of both', async () => {
    const { tokens } = await server.ask('/tokenize', { prompt: 'Returns the ' });
    const options = { temperature: 0, max_tokens: 8 };
    const text = await server.ask('/v1/completions', { prompt: 'Returns the ', ...options });
    const ids = await server.ask('/v1/completions', { prompt: tokens, ...options });
    const several = await server.ask('/v1/completions', { prompt: ['Returns the ', 'Returns the '], n: 2, ...options });
    assert.equal(ids.choices[0].text, text.choices[0].text);
    assert.deepEqual(several.choices.map((choice) => choice.index), [0, 1, 2, 3]);
    assert.ok(several.choices.every((choice) => choice.text === text.choices[0].text));
    assert.equal(several.usage.prompt_tokens, 2 * tokens.length);
  });

  test('echo the prompt', async () => {
    const options = { prompt: 'Returns the ', temperature: 0, max_tokens: 4 };
    const plain = await server.ask('/v1/completions', options);
    const echoed = await server.ask('/v1/completions', { ...options, echo: true });
    assert.equal(echoed.choices[0].text, 'Returns the ' + plain.choices[0].text);
    const streamed = await collect(server.stream('/v1/completions', { ...options, echo: true }));
    assert.equal(streamed.map((chunk) => chunk.choices[0].text).join(''), echoed.choices[0].text);
  });

  test('list logprobs with offsets into the text', async () => {
    const reply = await server.ask('/v1/completions', { prompt: 'Returns the ', temperature: 0, max_tokens: 6, logprobs: 2 });
    const { tokens, token_logprobs, top_logprobs, text_offset } = reply.choices[0].logprobs;
    assert.equal(tokens.length, 6);
    assert.equal(token_logprobs.length, 6);
    tokens.forEach((token, i) => {
      assert.equal(reply.choices[0].text.slice(text_offset[i], text_offset[i] + token.length), token);
      assert.equal(top_logprobs[i][token], token_logprobs[i]);
    });
  });

  test('tell tokens that are parts of characters from each other', async () => {
    const { tokens } = await server.ask('/tokenize', { prompt: '🎉', add_special_tokens: false });
    assert.ok(tokens.length > 1);
    for (const token of tokens) {
      const reply = await server.ask('/v1/completions', {
        prompt: 'a', temperature: 0, max_tokens: 1, logprobs: 1, logit_bias: { [token]: 100 }, return_token_ids: true,
      });
      assert.deepEqual(reply.choices[0].token_ids, [token]);
      assert.match(reply.choices[0].logprobs.tokens[0], /^bytes:(\\x[0-9a-f]{2})+$/);
    }
  });

  test('return token ids, streamed and whole alike', async () => {
    const options = { prompt: 'Returns the ', temperature: 0, max_tokens: 12, return_token_ids: true };
    const whole = await server.ask('/v1/completions', options);
    const chunks = await collect(server.stream('/v1/completions', options));
    assert.deepEqual(chunks.flatMap((chunk) => chunk.choices[0].token_ids), whole.choices[0].token_ids);
    assert.deepEqual(chunks[0].choices[0].prompt_token_ids, whole.choices[0].prompt_token_ids);
  });
});

describe('sampling', () => {
  const story = { prompt: 'Once upon a time', max_tokens: 24, seed: 11, temperature: 1.2 };
  const text = async (options) => (await server.ask('/v1/completions', { ...story, ...options })).choices[0].text;

  test('no answer ends before min_tokens', async () => {
    const short = await server.ask('/v1/chat/completions', { ...hello, return_token_ids: true });
    const end = short.choices[0].token_ids.at(-1);
    const least = short.usage.completion_tokens + 15;
    const long = await server.ask('/v1/chat/completions', {
      ...hello, min_tokens: least, max_tokens: least + 40, return_token_ids: true,
    });
    const ids = long.choices[0].token_ids;
    assert.ok(ids.length > least || long.choices[0].finish_reason === 'length');
    assert.ok(!ids.slice(0, least).includes(end));
    assert.deepEqual(ids.slice(0, short.usage.completion_tokens - 1), short.choices[0].token_ids.slice(0, -1));
  });

  test('each stage changes the answer and keeps it by seed', async () => {
    const plain = await text({});
    assert.equal(await text({}), plain);
    for (const options of [
      { typical_p: 0.2 }, { top_n_sigma: 0.5 }, { xtc_probability: 1, xtc_threshold: 0.05 },
      { dynatemp_range: 1.2 }, { mirostat: 2, mirostat_tau: 1 }, { repeat_penalty: 3 },
    ]) {
      const changed = await text(options);
      assert.notEqual(changed, plain, JSON.stringify(options));
      assert.equal(await text(options), changed, JSON.stringify(options));
    }
  });

  test('values that switch a stage off change nothing', async () => {
    assert.equal(await text({
      typical_p: 1, top_n_sigma: -1, xtc_probability: 0, xtc_threshold: 0.1, dynatemp_range: 0, dynatemp_exponent: 2,
      mirostat: 0, mirostat_tau: 3, dry_multiplier: 0, dry_sequence_breakers: ['x'], top_k: -1, repeat_last_n: 5,
      samplers: ['penalties', 'dry', 'top_n_sigma', 'top_k', 'temperature', 'typ_p', 'top_p', 'min_p', 'xtc'],
    }), await text({}));
  });

  test('samplers says which stages run, and their order', async () => {
    const greedy = await text({ temperature: 0 });
    assert.equal(await text({ top_k: 1 }), greedy);
    assert.equal(await text({ top_k: 1, samplers: ['top_k'] }), greedy);
    assert.notEqual(await text({ top_k: 1, samplers: ['temperature'] }), greedy);
    assert.equal(await text({ top_p: 0.5, temperature: 1, samplers: [] }), await text({ temperature: 1 }));
    const [first, last] = await Promise.all([
      text({ temperature: 3, top_p: 0.7, samplers: ['temperature', 'top_p'] }),
      text({ temperature: 3, top_p: 0.7, samplers: ['top_p', 'temperature'] }),
    ]);
    assert.notEqual(first, last);
  });

  test('dry keeps from going on with a repetition, up to a breaker', async () => {
    const options = { prompt: 'one two three four one two three', temperature: 0, max_tokens: 1, logit_bias: {} };
    const { tokens } = await server.ask('/tokenize', { prompt: ' four', add_special_tokens: false });
    options.logit_bias[tokens[0]] = 30;
    const one = async (more) => (await server.ask('/v1/completions', { ...options, return_token_ids: true, ...more })).choices[0].token_ids[0];
    assert.equal(await one({}), tokens[0]);
    assert.notEqual(await one({ dry_multiplier: 50 }), tokens[0]);
    assert.equal(await one({ dry_multiplier: 50, dry_sequence_breakers: ['ree'] }), tokens[0]);
  });
});

describe('prefix cache', () => {
  const ask = (body) => server.ask('/v1/completions', { temperature: 0, max_tokens: 8, ignore_eos: true, return_token_ids: true, ...body });
  const cached = (reply) => reply.usage.prompt_tokens_details.cached_tokens;

  test('usage tells what was there, a next turn goes on behind the answer, and the answers stay the same', async () => {
    const prompt = Array.from({ length: 100 }, (_, i) => 300 + i);
    const first = await ask({ prompt });
    assert.equal(cached(first), 0);
    const again = await ask({ prompt });
    assert.equal(cached(again), 99);
    assert.deepEqual(again.choices[0].token_ids, first.choices[0].token_ids);
    const next = [...prompt, ...first.choices[0].token_ids, 7, 8, 9];
    const [reused, computed] = [await ask({ prompt: next }), await ask({ prompt: next, cache_prompt: false })];
    assert.equal(cached(reused), 107);
    assert.equal(cached(computed), 0);
    assert.deepEqual(reused.choices[0].token_ids, computed.choices[0].token_ids);
  });

  test('choices of a prompt compute it once', async () => {
    const before = await server.metric('halogen_prompt_tokens_total');
    const reply = await ask({ prompt: Array.from({ length: 90 }, (_, i) => 500 + i), n: 4, temperature: 1 });
    assert.equal(reply.usage.prompt_tokens, 90);
    assert.equal(await server.metric('halogen_prompt_tokens_total'), before + 90 + 3);
  });

  test('metrics count hits', async () => {
    const prompt = Array.from({ length: 50 }, (_, i) => 800 + i);
    await ask({ prompt });
    const [hits, queried] = ['hit', 'queried'].map((name) => `halogen_prefix_cache_${name}_tokens_total`);
    const before = [await server.metric(hits), await server.metric(queried)];
    await ask({ prompt });
    assert.deepEqual([await server.metric(hits), await server.metric(queried)], [before[0] + 49, before[1] + 50]);
    assert.ok((await server.metric('halogen_kv_blocks_cached')) > 0);
  });

  test('cache_prompt is a boolean', async () => {
    assert.equal((await server.post('/v1/completions', { prompt: 'a', cache_prompt: 'no' })).status, 400);
  });
});

describe('other endpoints', () => {
  test('models', async () => {
    const list = await (await fetch(`${server.url}/v1/models`)).json();
    assert.deepEqual(list.data.map((model) => model.id), ['demo', 'alias']);
    assert.equal(list.data[0].max_model_len, 1024);
    const one = await (await fetch(`${server.url}/v1/models/demo`)).json();
    assert.equal(one.id, 'demo');
    assert.equal((await fetch(`${server.url}/v1/models/none`)).status, 404);
  });

  test('tokenize and detokenize are each other\'s inverse', async () => {
    const text = 'def f(x):\n    return "größe" + 日本 🎉';
    const { tokens, count } = await server.ask('/tokenize', { content: text });
    assert.equal(tokens.length, count);
    assert.equal((await server.ask('/detokenize', { tokens })).content, text);
  });

  test('reading a long text holds nobody else up', async () => {
    const text = 'a'.repeat(4_000_000);
    let answered = 0, ended = false;
    const long = server.ask('/tokenize', { prompt: text }).finally(() => (ended = true));
    await server.ask('/tokenize', { prompt: 'b'.repeat(100_000) });
    while (!ended) {
      assert.equal((await fetch(`${server.url}/livez`)).status, 200);
      answered++;
    }
    assert.equal(await server.ask('/detokenize', { tokens: (await long).tokens }).then((reply) => reply.content), text);
    assert.ok(answered >= 10, `${answered} answers while the text was read`);
  });

  test('health', async () => {
    for (const path of ['/health', '/readyz', '/livez']) {
      const response = await fetch(server.url + path);
      assert.equal(response.status, 200);
      assert.equal((await response.json()).status, 'ok');
    }
  });

  test('metrics count tokens', async () => {
    const before = await server.metric('halogen_generated_tokens_total');
    await server.ask('/v1/completions', { prompt: 'a', max_tokens: 5, ignore_eos: true });
    assert.equal(await server.metric('halogen_generated_tokens_total'), before + 5);
    const text = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(text, /^# TYPE halogen_requests_running gauge$/m);
  });

  test('unknown paths and methods', async () => {
    assert.equal((await fetch(`${server.url}/v2/nothing`)).status, 404);
    const response = await fetch(`${server.url}/v1/chat/completions`);
    assert.equal(response.status, 405);
    assert.equal(response.headers.get('allow'), 'POST, OPTIONS');
  });
});

describe('errors name the parameter', () => {
  const message = [{ role: 'user', content: 'x' }];
  const chat = '/v1/chat/completions';
  const text = '/v1/completions';
  const cases = [
    [chat, {}, 'messages', 400],
    [chat, { messages: [] }, 'messages', 400],
    [chat, { messages: 'x' }, 'messages', 400],
    [chat, { messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role', 400],
    [chat, { messages: [message[0], { role: 'user' }] }, 'messages[1].content', 400],
    [chat, { messages: [{ role: 'user', content: 5 }] }, 'messages[0].content', 400],
    [chat, { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] }, 'messages[0].content[0].type', 400],
    [chat, { messages: message, temperature: 5.1 }, 'temperature', 400],
    [chat, { messages: message, temperature: 'hot' }, 'temperature', 400],
    [chat, { messages: message, top_p: -0.1 }, 'top_p', 400],
    [chat, { messages: message, n: 0 }, 'n', 400],
    [chat, { messages: message, n: 1.5 }, 'n', 400],
    [chat, { messages: message, max_tokens: 0 }, 'max_tokens', 400],
    [chat, { messages: message, max_tokens: 1e300 }, 'max_tokens', 400],
    [chat, { messages: message, stop: 5 }, 'stop', 400],
    [chat, { messages: message, stop: Array(17).fill('x') }, 'stop', 400],
    [chat, { messages: message, top_logprobs: 3 }, 'top_logprobs', 400],
    [chat, { messages: message, logprobs: true, top_logprobs: 21 }, 'top_logprobs', 400],
    [chat, { messages: message, logit_bias: { x: 1 } }, 'logit_bias', 400],
    [chat, { messages: message, logit_bias: { 99999: 1 } }, 'logit_bias', 400],
    [chat, { messages: message, logit_bias: { 5: 101 } }, 'logit_bias', 400],
    [chat, { messages: message, stream_options: { include_usage: true } }, 'stream_options', 400],
    [chat, { messages: message, tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools', 400],
    [chat, { messages: message, response_format: { type: 'json_object' } }, 'response_format', 400],
    [chat, { messages: message, model: 'gpt-5' }, 'model', 404],
    [chat, { messages: message, seed: 'x' }, 'seed', 400],
    [chat, { messages: message, guided_regex: '[0-9]+' }, 'guided_regex', 400],
    [chat, { messages: message, stop_token_ids: [5] }, 'stop_token_ids', 400],
    [chat, { messages: message, typical_p: 1.5 }, 'typical_p', 400],
    [chat, { messages: message, top_n_sigma: 'x' }, 'top_n_sigma', 400],
    [chat, { messages: message, xtc_probability: -1 }, 'xtc_probability', 400],
    [chat, { messages: message, xtc_threshold: 2 }, 'xtc_threshold', 400],
    [chat, { messages: message, dynatemp_range: 6 }, 'dynatemp_range', 400],
    [chat, { messages: message, dynatemp_exponent: -1 }, 'dynatemp_exponent', 400],
    [chat, { messages: message, repetition_penalty: 0 }, 'repetition_penalty', 400],
    [chat, { messages: message, repeat_penalty: 101 }, 'repeat_penalty', 400],
    [chat, { messages: message, repeat_last_n: -2 }, 'repeat_last_n', 400],
    [chat, { messages: message, dry_multiplier: -1 }, 'dry_multiplier', 400],
    [chat, { messages: message, dry_base: 0.5 }, 'dry_base', 400],
    [chat, { messages: message, dry_allowed_length: 1.5 }, 'dry_allowed_length', 400],
    [chat, { messages: message, dry_penalty_last_n: -2 }, 'dry_penalty_last_n', 400],
    [chat, { messages: message, dry_sequence_breakers: [5] }, 'dry_sequence_breakers', 400],
    [chat, { messages: message, dry_sequence_breakers: [''] }, 'dry_sequence_breakers', 400],
    [chat, { messages: message, dry_sequence_breakers: ['x'.repeat(33)] }, 'dry_sequence_breakers', 400],
    [chat, { messages: message, dry_sequence_breakers: Array(17).fill('x') }, 'dry_sequence_breakers', 400],
    [chat, { messages: message, mirostat: 1 }, 'mirostat', 400],
    [chat, { messages: message, mirostat: 3 }, 'mirostat', 400],
    [chat, { messages: message, mirostat_tau: -1 }, 'mirostat_tau', 400],
    [chat, { messages: message, mirostat_eta: 11 }, 'mirostat_eta', 400],
    [chat, { messages: message, samplers: ['top_k', 'infill'] }, 'samplers', 400],
    [chat, { messages: message, samplers: ['top_k', 'top_k'] }, 'samplers', 400],
    [chat, { messages: message, samplers: 5 }, 'samplers', 400],
    [chat, { messages: message, min_tokens: -1 }, 'min_tokens', 400],
    [chat, { messages: message, min_tokens: 9, max_tokens: 8 }, 'min_tokens', 400],
    [text, { prompt: 'x', min_tokens: 17 }, 'min_tokens', 400],
    [text, {}, 'prompt', 400],
    [text, { prompt: '' }, 'prompt', 400],
    [text, { prompt: [] }, 'prompt', 400],
    [text, { prompt: [4096] }, 'prompt[0]', 400],
    [text, { prompt: [-1] }, 'prompt[0]', 400],
    [text, { prompt: ['a', 5] }, 'prompt[1]', 400],
    [text, { prompt: 'x', logprobs: 21 }, 'logprobs', 400],
    [text, { prompt: 'x', suffix: 'y' }, 'suffix', 400],
    [text, { prompt: 'x', best_of: 3 }, 'best_of', 400],
    [text, { prompt: 'x', echo: true, logprobs: 1 }, 'echo', 400],
    ['/tokenize', {}, 'prompt', 400],
    ['/tokenize', { prompt: 5 }, 'prompt', 400],
    ['/detokenize', { tokens: [99999] }, 'tokens[0]', 400],
  ];
  for (const [path, body, param, status] of cases) {
    test(`${path} ${JSON.stringify(body).slice(0, 90)}`, async () => {
      const response = await server.post(path, body);
      const { error } = await response.json();
      assert.equal(response.status, status, error.message);
      assert.equal(error.param, param, error.message);
      assert.ok(error.message.length > 10);
      assert.equal(error.type, 'invalid_request_error');
    });
  }

  test('what was sent is repeated in part only', async () => {
    for (const [path, body] of [['/v1/completions', { prompt: ['x'.repeat(100_000), 1] }],
      ['/v1/completions', { prompt: [1, 'x'.repeat(100_000)] }],
      ['/v1/completions', { prompt: 'x', model: 'x'.repeat(100_000) }],
      ['/v1/completions', { prompt: 'x', logit_bias: { ['x'.repeat(100_000)]: 1 } }],
      ['/v1/chat/completions', { messages: [{ role: 'user', content: [{ type: 'x'.repeat(100_000) }] }] }]]) {
      const response = await server.post(path, body);
      assert.ok(response.status >= 400);
      assert.ok((await response.text()).length < 1000);
    }
  });

  test('more answers than can ever be in work', async () => {
    const response = await server.post('/v1/completions', { prompt: Array(128).fill('a'), n: 2 });
    assert.equal(response.status, 400);
    assert.equal((await response.json()).error.param, 'n');
  });

  test('a default that does not fit is no error', async () => {
    const context = (await (await fetch(`${server.url}/v1/models/demo`)).json()).max_model_len;
    const reply = await server.ask('/v1/completions', { prompt: Array(context - 3).fill(300), ignore_eos: true });
    assert.equal(reply.usage.completion_tokens, 3);
  });

  test('a body that is no JSON, no object, or nested without end', async () => {
    for (const body of ['{', '', '[1]', '"x"', '{"a":"\\ud800"}', '['.repeat(100000), `{"messages":${'['.repeat(1000)}${']'.repeat(1000)}}`]) {
      const response = await server.post(chat, body);
      assert.equal(response.status, 400);
      assert.ok((await response.json()).error.message.length > 10);
    }
  });

  test('a prompt, or an answer, longer than the context', async () => {
    const long = 'word '.repeat(200000);
    for (const [path, body, param] of [
      [text, { prompt: Array(1025).fill(5) }, 'prompt'],
      [text, { prompt: Array(1000).fill(5), max_tokens: 100 }, 'max_tokens'],
      [text, { prompt: long }, 'prompt'],
      [chat, { messages: [{ role: 'user', content: long }] }, 'messages'],
      [chat, { messages: message, max_tokens: 1024 }, 'max_tokens'],
      [chat, { messages: message, min_tokens: 1024 }, 'min_tokens'],
    ]) {
      const response = await server.post(path, body);
      const { error } = await response.json();
      assert.equal(response.status, 400);
      assert.equal(error.code, 'context_length_exceeded');
      assert.equal(error.param, param);
      assert.match(error.message, /the context of 1024 tokens/);
    }
  });
});
