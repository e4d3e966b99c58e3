import { describe, expect, test } from '@jest/globals';
import {
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider';
import { PromptTooLongError, RETRY_AFTER_FACT } from '../../../../a2a-server/models/model.ts';
import { toProviderError, refusesReasoningState } from '../../../../a2a-server/models/provider-failure.ts';
import { StreamCutOffError, FinishReasonError } from '../../../../a2a-server/models/model-stream-reader.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';

const SECRET = 'sk-12345';
const CONTEXT = { model: 'openai:m', keySource: 'OPENAI_API_KEY', secrets: [SECRET, ''] };

function http(
  statusCode: number,
  message = 'why',
  responseHeaders: Record<string, string> = {},
): APICallError {
  return new APICallError({
    message,
    url: `http://h/${SECRET}`,
    requestBodyValues: {},
    statusCode,
    responseHeaders,
  });
}

/** An error whose body has another format than the AI SDK reads. */
function unread(statusCode: number, body: unknown): APICallError {
  return Object.assign(http(statusCode, 'Bad Request'), { responseBody: JSON.stringify(body) });
}

function network(code: string): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error('low level'), { code }) });
}

describe('a temporary failure of a provider', () => {
  test('the message about a failed connection has its code', () => {
    expect(toProviderError(network('ENOTFOUND'), CONTEXT).message).toBe(
      'openai:m could not answer: the connection to it failed (ENOTFOUND).',
    );
  });

  test.each([
    ['too many requests', http(429)],
    ['a request that timed out', http(408)],
    ['a server error', http(500)],
    ['overload', http(529)],
    ['an interrupted answer', new StreamCutOffError()],
    ['an answer interrupted in the HTTP layer', http(200, 'Failed to process successful response')],
    [
      'an answer without a finish',
      new InvalidResponseDataError({ data: undefined, message: 'no finish reason' }),
    ],
    ['half a JSON', new JSONParseError({ text: '{', cause: new Error('x') })],
    ['overload reported in the stream', { type: 'overloaded_error', message: 'Overloaded' }],
    ['a status reported in the stream', { message: 'busy', code: 503 }],
    [
      'a module that an upgrade has deleted',
      Object.assign(new Error('no such file'), { code: 'ENOENT', path: '/dist/dist-QPZBNGW3.js' }),
    ],
    [
      'a tool call that Groq could not parse',
      unread(400, { error: { message: 'Failed to call a function.', code: 'tool_use_failed' } }),
    ],
    ['the same in a stream', { message: 'Failed to call a function.', code: 'tool_use_failed' }],
    ['a status that Groq reports in the stream', { message: 'Over capacity', status_code: 503 }],
    ['a rate limit reported in the stream', { message: 'busy', type: 'tokens', code: 'rate_limit_exceeded' }],
    ['no connection', network('ECONNREFUSED')],
    ['no such host', network('ENOTFOUND')],
    ['a socket that closed', network('UND_ERR_SOCKET')],
  ])('%s counts as temporary', (_what, thrown) => {
    const error = toProviderError(thrown, CONTEXT);
    expect(error).toMatchObject({ reason: 'AGENT_UNREACHABLE', retryable: true });
  });
});

describe('a permanent failure of a provider', () => {
  test.each([
    ['a refused request', http(400)],
    ['an unknown model', http(404)],
    ['a refused key', http(401)],
    ['a request refused in the stream', { type: 'invalid_request_error', message: 'no' }],
    ['a turn ended by an error', new FinishReasonError('UNEXPECTED_TOOL_CALL')],
    ['an error of the server itself', new TypeError('x is not a function')],
    ['anything else', 'what?'],
    ['nothing', undefined],
  ])('%s counts as permanent', (_what, thrown) => {
    const error = toProviderError(thrown, CONTEXT);
    expect(error).toMatchObject({ reason: 'AGENT_ERROR', retryable: false });
  });

  test('a ProductError stays unchanged', () => {
    const ours = new ProductError('CONFIGURATION', 'Set a key.');
    expect(toProviderError(ours, CONTEXT)).toBe(ours);
  });
});

describe('the error message of a provider failure', () => {
  test('the error message names the model and the status', () => {
    const error = toProviderError(http(404, 'no such model.'), CONTEXT);
    expect(error.message).toBe(
      'openai:m refused the request (404): no such model. "mcp-a2a-bridge model list" lists models.',
    );
    expect(error.facts).toEqual({ model: 'openai:m', status: '404', refused: 'model' });
  });

  test.each([
    ['a refused request', http(400, `bad ${SECRET}`)],
    ['a refused key', http(401, SECRET)],
    ['a server error', http(503, SECRET)],
    ['an error', new Error(SECRET)],
    ['an error reported in the stream', { message: SECRET }],
  ])('the error message contains no secret: %s', (_what, thrown) => {
    const error = toProviderError(thrown, CONTEXT);
    expect(JSON.stringify([error.message, error.stack, error.facts, error.cause])).not.toContain(SECRET);
  });

  test.each([401, 403])(
    'the error message for a key refused with %d names only the key’s variable',
    (status) => {
      expect(toProviderError(http(status, 'Incorrect key sk-12***45'), CONTEXT).message).toBe(
        `openai:m refused the key (${status}). Check OPENAI_API_KEY and the permissions of the key.`,
      );
    },
  );

  test('the error message does not blame the provider for an error inside a2a-server', () => {
    expect(toProviderError(new Error('x is not a function'), CONTEXT).message).toBe(
      'openai:m failed on the request: x is not a function',
    );
  });

  test('the error message is short and has one line', () => {
    const error = toProviderError(http(400, 'a\nb'.repeat(10_000)), CONTEXT);
    expect(error.message.length).toBeLessThan(600);
    expect(error.message).not.toContain('\n');
  });
});

test.each([
  ['7', '7000'],
  ['0', '0'],
  ['7.25', '7250'],
  ['soon', undefined],
  [new Date(0).toUTCString(), '0'],
])('the header Retry-After %j requests a pause of %j ms', (value, ms) => {
  expect(toProviderError(http(429, 'busy', { 'retry-after': value }), CONTEXT).facts[RETRY_AFTER_FACT]).toBe(
    ms,
  );
});

test.each([
  ['Anthropic', http(400, 'prompt is too long: 210000 tokens > 200000 maximum')],
  [
    'Anthropic with the answer',
    http(400, 'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000'),
  ],
  ['Groq', http(400, 'Please reduce the length of the messages or completion.')],
  ['Moonshot', http(400, 'Your request exceeded model token limit: 262144 (requested: 291351)')],
  [
    'xAI',
    unread(400, { code: 'invalid-argument', error: "This model's maximum prompt length is 131072 but …" }),
  ],
  [
    'OpenAI',
    http(400, "This model's maximum context length is 128000 tokens. However, you requested 130000"),
  ],
  [
    'Google',
    http(400, 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'),
  ],
  ['llama.cpp', http(400, 'the request exceeds the available context size, try increasing it')],
  [
    'llama.cpp inside a stream',
    { code: 500, message: 'Context size has been exceeded.', type: 'server_error' },
  ],
  ['a too large request body', http(413)],
])('the error of %s for a prompt that is too long is recognized', (_, thrown) => {
  const error = toProviderError(thrown, CONTEXT);
  expect(error).toBeInstanceOf(PromptTooLongError);
  expect(error).toMatchObject({ reason: 'AGENT_ERROR', retryable: false });
});

test('the error of a busy provider does not count as "prompt too long", even with similar words', () => {
  expect(toProviderError(http(503, 'context window service is down'), CONTEXT).retryable).toBe(true);
  expect(toProviderError(http(400, 'no such model'), CONTEXT)).not.toBeInstanceOf(PromptTooLongError);
});

test('the failure contains the pause that Google requests in the body', () => {
  const details = [
    { '@type': 'google.rpc.QuotaFailure' },
    { '@type': 'google.rpc.RetryInfo', retryDelay: '37.5s' },
  ];
  const thrown = Object.assign(http(429), { responseBody: JSON.stringify({ error: { details } }) });
  expect(toProviderError(thrown, CONTEXT).facts[RETRY_AFTER_FACT]).toBe('37500');
});

test.each([
  ['xAI', { code: 'invalid-argument', error: 'Unknown tool.' }, 'Unknown tool'],
  ['Mistral', { object: 'error', message: 'Unknown tool.', type: 'invalid_request' }, 'Unknown tool'],
  [
    'Google’s endpoint for the OpenAI API',
    [{ error: { code: 400, message: 'Unknown tool.' } }],
    'Unknown tool',
  ],
  ['a FastAPI server', { detail: 'Unknown tool.' }, 'Unknown tool'],
  ['its validation', { detail: [{ msg: 'Unknown tool' }] }, '[{"msg":"Unknown tool"}]'],
])('the error message has the reason in the format of %s', (_, body, reason) => {
  const error = toProviderError(unread(400, body), CONTEXT);
  expect(error.message).toBe(`openai:m refused the request (400): ${reason}`);
});

test('the error message has the reason that a stream contains as a text', () => {
  const thrown = new TypeValidationError({ value: { error: 'out of memory' }, cause: new Error('zod') });
  expect(toProviderError(thrown, CONTEXT).message).toContain('out of memory');
});

describe('an account without credit at a provider', () => {
  const noCredit = { message: 'You exceeded your current quota', code: 'insufficient_quota' };
  test.each([
    ['a status 429 with insufficient_quota', unread(429, { error: noCredit })],
    [
      'the same in the first event of a stream',
      unread(429, { type: 'response.failed', response: { error: noCredit } }),
    ],
    [
      'the same in a stream',
      { message: 'no', code: 'insufficient_quota', statusCode: 429, isRetryable: false },
    ],
    ['a status 402', http(402)],
    ["Anthropic's status 400", http(400, 'Your credit balance is too low to access the Anthropic API.')],
  ])('missing credit does not count as a rate limit: %s', (_, thrown) => {
    const error = toProviderError(thrown, CONTEXT);
    expect(error).toMatchObject({
      reason: 'AGENT_ERROR',
      retryable: false,
      message: expect.stringContaining('no credit left'),
    });
  });
});

test.each([
  ['Google', http(400, 'API key not valid. Please pass a valid API key.')],
  ['xAI', unread(400, { code: 'invalid argument', error: 'Incorrect API key provided: sk' })],
])('the error for a key that %s refuses with status 400 names the key’s variable', (_, thrown) => {
  expect(toProviderError(thrown, CONTEXT).message).toContain('Check OPENAI_API_KEY');
});

test('an HTTP status inside a stream counts like the status of a response', () => {
  const thrown = { message: 'The server had an error', type: 'response.failed', statusCode: 500 };
  expect(toProviderError(thrown, CONTEXT).retryable).toBe(true);
});

test('an error inside an OpenRouter stream has a name in its code, and is temporary', () => {
  const thrown = { code: 'server_error', message: 'Provider disconnected unexpectedly' };
  expect(toProviderError(thrown, CONTEXT).retryable).toBe(true);
  expect(toProviderError({ ...thrown, code: 'invalid_request' }, CONTEXT).retryable).toBe(false);
});

describe('an OpenRouter error with the provider’s own text in `metadata.raw`', () => {
  const error = {
    message: 'Provider returned error',
    code: 400,
    metadata: { raw: 'Corrupted thought signature.', provider_name: 'Google AI Studio' },
  };
  const thrown = Object.assign(http(400, error.message), { responseBody: JSON.stringify({ error }) });

  test('the failure shows the provider’s own text', () => {
    expect(toProviderError(thrown, CONTEXT).message).toContain(
      'Provider returned error: Corrupted thought signature',
    );
  });

  test('the failure is a refusal of reasoning if the provider’s text says so', () => {
    expect(refusesReasoningState(thrown)).toBe(true);
    expect(refusesReasoningState(http(400, error.message))).toBe(false);
  });

  test('the failure shows the body unchanged if the body is not JSON', () => {
    const page = Object.assign(http(400, 'Bad Request'), { responseBody: '<html>' });
    expect(toProviderError(page, CONTEXT).message).toContain('(400): Bad Request');
  });
});
