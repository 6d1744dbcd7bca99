// Greedy tokens over HTTP against the references'.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { data, haveData, readJson, Server, temporaryFolder } from './server.mjs';

const stories = 'stories260K/stories260K-f32.gguf';
const trained = 'gguf/trained-qwen3-15m-Q4_K_M.gguf';
const trainedFolder = 'golden/trained-qwen3-15m';
const skipStories = haveData(stories) ? false : `${stories} is missing`;
const skipTrained = haveData(trained) && haveData(trainedFolder) ? false : `${trained} is missing`;

describe('stories260K', { skip: skipStories }, () => {
  let server;
  before(async () => (server = await Server.start(data(stories))));
  after(() => server?.stop());

  test('tells the reference\'s stories, token for token', async () => {
    const golden = readJson(data('stories260K/golden.json'));
    assert.ok(golden.prompts.length > 0);
    for (const prompt of golden.prompts) {
      const reply = await server.ask('/v1/completions', {
        prompt: prompt.text,
        max_tokens: prompt.greedy_ids.length,
        temperature: 0,
        ignore_eos: true,
        return_token_ids: true,
      });
      assert.deepEqual(reply.choices[0].token_ids, prompt.greedy_ids, prompt.name);
      assert.equal(reply.usage.completion_tokens, prompt.greedy_ids.length);
    }
  });
});

// The weights as they were trained, in BF16: what the reference's samples were made with.
describe('the trained model in BF16', { skip: skipTrained }, () => {
  const samples = skipTrained ? [] : readJson(data(`${trainedFolder}/golden_samples.json`));
  let server;
  before(async () => {
    const bf16 = join(temporaryFolder, 'trained-bf16.gguf');
    execFileSync(process.env.HALOGEN_EDIT_GGUF, [data(trained), data(`${trainedFolder}/model.safetensors`), bf16]);
    server = await Server.start(bf16);
  });
  after(() => server?.stop());

  test('continues texts with the reference\'s tokens', async () => {
    for (const sample of samples.filter((each) => !each.messages)) {
      const reply = await server.ask('/v1/completions', {
        prompt: sample.ids,
        max_tokens: sample.greedy_ids.length,
        temperature: 0,
        ignore_eos: true,
        return_token_ids: true,
        skip_special_tokens: false,
      });
      assert.deepEqual(reply.choices[0].token_ids, sample.greedy_ids, sample.text);
      assert.equal(reply.choices[0].text, sample.continuation);
    }
  });

  test('answers conversations with the reference\'s tokens, and stops by itself', async () => {
    for (const sample of samples.filter((each) => each.messages && !each.tools)) {
      const reply = await server.ask('/v1/chat/completions', {
        messages: sample.messages,
        temperature: 0,
        return_token_ids: true,
      });
      assert.deepEqual(reply.choices[0].prompt_token_ids, sample.ids);
      assert.deepEqual(reply.choices[0].token_ids, sample.greedy_ids);
      assert.equal(reply.choices[0].message.content, sample.continuation.replace('<|im_end|>', ''));
      assert.equal(reply.choices[0].finish_reason, 'stop');
    }
  });

  test('follows tool conversations given as token ids', async () => {
    for (const sample of samples.filter((each) => each.tools)) {
      const reply = await server.ask('/v1/completions', {
        prompt: sample.ids, max_tokens: 100, temperature: 0, return_token_ids: true,
      });
      assert.deepEqual(reply.choices[0].token_ids, sample.greedy_ids);
    }
  });
});

// The demo's file: without rounding activations the reference's tokens are known.
describe('the trained model in Q4_K_M', { skip: skipTrained }, () => {
  let server;
  before(async () => {
    server = await Server.start(data(trained), ['--set', 'backend.cpu.exact=true', '--cache-type', 'f32']);
  });
  after(() => server?.stop());

  test('gives the dequantised weights\' greedy tokens', async () => {
    const golden = readJson(data('gguf/golden.json'));
    const prompts = [golden.prompts['p2 of the trained models'], golden.prompts.def];
    const runs = golden.files['trained-qwen3-15m-Q4_K_M.gguf'].greedy_dequant_f32;
    for (const [index, prompt] of prompts.entries()) {
      const { ids, margins } = runs[index];
      const unsafe = margins.findIndex((margin) => margin < 1e-3);
      const count = unsafe < 0 ? ids.length : unsafe;
      assert.ok(count >= 16);
      const reply = await server.ask('/v1/completions', {
        prompt, max_tokens: count, temperature: 0, ignore_eos: true, return_token_ids: true,
      });
      assert.deepEqual(reply.choices[0].token_ids, ids.slice(0, count));
    }
  });
});
