import { expect, test } from '@jest/globals';
import { needsResponsesApi } from '../../../../../a2a-server/models/provider-requests/needs-responses-api.ts';

test.each([
  'o1',
  'o1-pro',
  'o3',
  'o3-mini',
  'o4-mini-2025-04-16',
  'codex-mini-latest',
  'computer-use-preview',
  'gpt-5',
  'gpt-5-mini',
  'gpt-5-pro-2025-10-06',
  'gpt-5.1-codex-max',
  'gpt-6-sol',
  'gpt-10',
])('OpenAI’s %s gets the Responses API, which keeps its reasoning between turns', (model) => {
  expect(needsResponsesApi(model)).toBe(true);
});

test.each([
  'gpt-3.5-turbo',
  'gpt-4',
  'gpt-4-turbo',
  'gpt-4.1-mini',
  'gpt-4o',
  'gpt-oss-120b',
  'chatgpt-4o-latest',
  'ft:gpt-4o-mini:acme::1',
  'omni-moderation-latest',
])('OpenAI’s %s does not reason, and gets Chat Completions', (model) => {
  expect(needsResponsesApi(model)).toBe(false);
});
