import { describe, expect, test } from '@jest/globals';
import {
  A2AError,
  InvalidAgentResponseError,
  JsonRpcRequestMalformedError,
  JsonRpcTaskNotFoundError,
  JsonRpcTransportError,
  JsonRpcUnsupportedOperationError,
  RequestMalformedError,
  RestTaskNotCancelableError,
} from '@a2a-js/sdk/errors';
import { Agent } from '../../../../bridge/agents/agent.ts';
import { requestFailure } from '../../../../bridge/agents/request-failure.ts';
import {
  bodyExcerpt,
  HttpError,
  WithheldCredentialsError,
} from '../../../../bridge/agents/http/request-errors.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';

const info = (reason: string, metadata: Record<string, string>) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'a2a-protocol.org',
  metadata,
});
const network = (code: string, syscall?: string): Error =>
  new TypeError('fetch failed', {
    cause: Object.assign(new Error(`${syscall ?? ''} ${code}`), { code, syscall }),
  });

describe('the failure of a request to an agent', () => {
  test.each([
    ['ECONNREFUSED', 'connect'],
    ['EHOSTUNREACH', 'connect'],
    ['ENOTFOUND', 'getaddrinfo'],
    ['EAI_AGAIN', 'getaddrinfo'],
    ['UND_ERR_CONNECT_TIMEOUT', undefined],
    ['CERT_HAS_EXPIRED', undefined],
  ])('%s: the request cannot have arrived, and the bridge can send it again', (code, syscall) => {
    const { error, arrival } = requestFailure(network(code, syscall), 'a');
    expect(arrival).toBe('no');
    expect(error).toMatchObject({ reason: 'AGENT_UNREACHABLE', retryable: true });
    expect(error.message).toContain(code);
  });

  test.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed', 'NODE_EXTRA_CA_CERTS'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'unknown authority', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'unknown authority', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unknown authority', 'NODE_EXTRA_CA_CERTS'],
    ['CERT_HAS_EXPIRED', 'has expired', 'Renew'],
    ['CERT_NOT_YET_VALID', 'not valid yet', 'clock'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'another host name', 'URL'],
  ])('%s: the request was not sent; the error names the cause and the setting', (code, cause, setting) => {
    const { error, arrival } = requestFailure(network(code), 'a');
    expect(arrival).toBe('no');
    expect(error.message).toContain(cause);
    expect(error.message).toContain(setting);
    expect(error.message).toContain('Nothing was sent');
  });

  test('credentials that were not sent are not reported as refused: the error gives the cause and the settings', async () => {
    const thrown = new WithheldCredentialsError({ at: 'http://a:2', origin: 'http://a:1' });
    const { error } = requestFailure(thrown, 'a');
    expect(error).toMatchObject({ reason: 'UNAUTHENTICATED', facts: { credentials: 'not-sent' } });
    const agent = new Agent('a', async () => ({ url: 'http://a:1', headers: {} }), {
      aboutToken: 'The token was refused.',
    });
    const { message } = agent.failed(thrown);
    expect(message).toContain('did not send them');
    for (const word of ['http://a:2', 'http://a:1', '"url"', '"cardUrl"']) expect(message).toContain(word);
    expect(message).not.toContain('refused');
  });

  test.each([
    network('ECONNRESET', 'read'),
    network('EHOSTUNREACH', 'read'),
    network('ENETUNREACH', 'write'),
    network('UND_ERR_SOCKET'),
    new TypeError('terminated'),
    new DOMException('x', 'TimeoutError'),
    new DOMException('x', 'AbortError'),
  ])('%s: it is unknown whether the request arrived', (thrown) => {
    expect(requestFailure(thrown, 'a')).toMatchObject({
      arrival: 'maybe',
      error: { reason: 'AGENT_UNREACHABLE' },
    });
  });

  test.each([
    [401, 'UNAUTHENTICATED', 'refused'],
    [403, 'FORBIDDEN', 'refused'],
    [404, 'AGENT_ERROR', 'refused'],
    [500, 'AGENT_UNREACHABLE', 'maybe'],
    [503, 'AGENT_UNREACHABLE', 'maybe'],
    [429, 'AGENT_UNREACHABLE', 'maybe'],
    [200, 'AGENT_ERROR', 'maybe'],
    [303, 'AGENT_ERROR', 'maybe'],
    [307, 'AGENT_ERROR', 'refused'],
    [308, 'AGENT_ERROR', 'refused'],
  ] as const)(
    'a response with HTTP %i gives the reason %s, and the arrival of the request is "%s"',
    (status, reason, arrival) => {
      const { error, arrival: found } = requestFailure(
        new HttpError(status, `HTTP ${String(status)}`, { excerpt: 'its words' }),
        'a',
      );
      expect([error.reason, found]).toEqual([reason, arrival]);
      expect(error.message).toContain('its words');
      expect(error.message).toContain('"a"');
    },
  );

  test.each([
    [408, 'Request Timeout'],
    [400, ''],
  ])(
    'HTTP %i after a broken request: the request did not arrive, and the bridge can send it again',
    (status, words) => {
      const { error, arrival } = requestFailure(
        new HttpError(status, `HTTP ${String(status)}`, { excerpt: words }),
        'a',
      );
      expect([error.reason, error.retryable, arrival]).toEqual(['AGENT_UNREACHABLE', true, 'refused']);
      expect(error.facts['trouble']).toBe('network');
      expect(error.message).toContain('broke before the whole request had arrived');
    },
  );

  test('HTTP 400 with a text counts as a refusal', () => {
    const { error, arrival } = requestFailure(
      new HttpError(400, 'HTTP 400', { excerpt: 'Bad Request' }),
      'a',
    );
    expect([error.reason, error.retryable, arrival]).toEqual(['AGENT_ERROR', false, 'refused']);
  });

  test('the reason and facts of our own agent complete the more general A2A reason', () => {
    const metadata = { reason: 'ALREADY_DECIDED', retryable: 'false', firstDecision: 'approve' };
    const thrown = new JsonRpcUnsupportedOperationError({
      message: 'Decided before.',
      data: [info('UNSUPPORTED_OPERATION', metadata)],
    });
    expect(requestFailure(thrown, 'a')).toMatchObject({
      arrival: 'refused',
      error: { reason: 'ALREADY_DECIDED', message: 'Decided before.', facts: { firstDecision: 'approve' } },
    });
    expect(requestFailure(thrown, 'a').error.facts).not.toHaveProperty('retryable');
  });

  test('an error in the middle of a stream is found inside the SDK’s error', () => {
    const cause = new JsonRpcTaskNotFoundError({ message: 'Gone.' });
    expect(requestFailure(new Error('SSE event contained an error', { cause }), 'a').error.reason).toBe(
      'UNKNOWN_TASK',
    );
  });

  test('for any agent, an error has the A2A reason, or else the agent’s text', () => {
    expect(requestFailure(new RestTaskNotCancelableError({ message: 'Ended.' }), 'a').error.reason).toBe(
      'TASK_ENDED',
    );
    const thrown = new JsonRpcTransportError({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32000, message: 'No capacity' },
    });
    expect(requestFailure(thrown, 'a').error).toMatchObject({
      reason: 'AGENT_ERROR',
      message: 'Agent "a" refused: No capacity',
    });
    const mute = new A2AError({});
    expect(requestFailure(mute, 'a').error.message).toBe('Agent "a" refused: it gave no reason.');
  });

  test('an error that already has a name stays unchanged', () => {
    const error = new ProductError('UNKNOWN_SESSION', 'No.');
    expect(requestFailure(error, 'a').error).toBe(error);
  });

  test.each([new SyntaxError('Unexpected end of JSON input'), 'a string', null, undefined, 7, {}])(
    '%p is an answer that is not A2A',
    (thrown) => {
      expect(requestFailure(thrown, 'a')).toMatchObject({
        arrival: 'maybe',
        error: { reason: 'AGENT_ERROR' },
      });
    },
  );

  test.each([
    new RequestMalformedError({ message: 'message.messageId is required' }),
    new InvalidAgentResponseError('Invalid response: v0.3 message/send result is missing.'),
  ])('B1 %s: the SDK cannot read the answer, so the agent may have the message', (thrown) => {
    const { error, arrival } = requestFailure(thrown, 'a');
    expect([error.reason, arrival]).toEqual(['AGENT_ERROR', 'maybe']);
    expect(error.message).toContain('something that is not A2A');
    expect(error.message).toContain(thrown.message);
  });

  test('B1 an agent that says itself that the request is malformed has refused it', () => {
    const thrown = new JsonRpcRequestMalformedError({
      message: 'message.parts is empty',
      envelopeCode: -32602,
    });
    expect(requestFailure(thrown, 'a')).toMatchObject({
      arrival: 'refused',
      error: { reason: 'AGENT_ERROR', message: 'Agent "a" refused: message.parts is empty' },
    });
  });

  test('X3 the search through causes ends, even if they form a cycle', () => {
    const one = new Error('one');
    one.cause = new Error('two', { cause: one });
    expect(requestFailure(one, 'a').error.reason).toBe('AGENT_ERROR');
  });

  test('X3 an excerpt of a response is one short printable line', () => {
    expect(bodyExcerpt(`<html>\n\u0007\u001b[31m  ${'x'.repeat(10_000)}`)).toMatch(
      /^<html> \[31m x{100,200}…$/,
    );
  });
});
