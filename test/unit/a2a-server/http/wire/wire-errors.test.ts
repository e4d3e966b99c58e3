import { describe, expect, test } from '@jest/globals';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { A2AError, restStatusFor, toJsonRpcError, toRestErrorBody } from '@a2a-js/sdk/errors';
import { ProductError, ERROR_REASONS } from '../../../../../shared/runtime/errors.ts';
import type { ErrorReason } from '../../../../../shared/runtime/errors.ts';
import {
  notCancelableError,
  toWireError,
  WIRE_ERRORS,
} from '../../../../../a2a-server/http/wire/wire-errors.ts';

const isReason = (name: string): name is ErrorReason => ERROR_REASONS.some((reason) => reason === name);
const ALL = Object.keys(WIRE_ERRORS).filter(isReason);

describe('errors in A2A responses', () => {
  test('the error table has a row for every reason', () => {
    expect(ALL.toSorted()).toEqual(ERROR_REASONS.toSorted());
  });

  test.each(ALL)(
    '%s keeps its sentence, its name and its facts over JSON-RPC, 0.3 and HTTP+JSON',
    (reason) => {
      const error = new ProductError(reason, 'What to do next.', { facts: { callId: 'c-1' } });
      const details = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: expect.any(String) };
      const metadata = { reason, retryable: String(new ProductError(reason, '').retryable), callId: 'c-1' };
      const modern = toJsonRpcError(toWireError(error, 'jsonrpc'));
      expect(modern).toMatchObject({ message: 'What to do next.', data: [{ ...details, metadata }] });
      const old = LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(toWireError(error, 'jsonrpc-0.3'));
      expect(old).toMatchObject({ code: modern.code, message: 'What to do next.', data: [{ metadata }] });
      const rest = toWireError(error, 'rest');
      expect(restStatusFor(rest)).toBe(WIRE_ERRORS[reason].http);
      expect(toRestErrorBody(rest, restStatusFor(rest)).error).toMatchObject({
        message: 'What to do next.',
        details: [{ ...details, metadata }],
      });
    },
  );

  test.each([
    ['MALFORMED', -32602],
    ['INVALID_DECISION', -32602],
    ['UNKNOWN_TASK', -32001],
    ['TASK_ENDED', -32004],
    ['UNSUPPORTED_CONTENT', -32005],
    ['STORAGE', -32603],
    ['UNAUTHENTICATED', -32600],
  ] as const)('%s has the JSON-RPC code %p', (reason, code) => {
    expect(toJsonRpcError(toWireError(new ProductError(reason, 'x'), 'jsonrpc')).code).toBe(code);
  });

  test('the cancel of an ended task gives TaskNotCancelable, not UnsupportedOperation', () => {
    expect(toJsonRpcError(notCancelableError(new ProductError('TASK_ENDED', 'x'), 'jsonrpc')).code).toBe(
      -32002,
    );
  });

  test('the response to an unexpected error reveals no details', () => {
    for (const wire of ['jsonrpc', 'jsonrpc-0.3', 'rest'] as const) {
      const mapped = toWireError(new TypeError('cannot read properties of /home/me'), wire);
      expect(mapped.message).not.toContain('/home/me');
      expect(restStatusFor(toWireError('a string', 'rest'))).toBe(500);
    }
  });

  test('errors of the SDK pass unchanged', () => {
    const error = new A2AError('x');
    expect(toWireError(error, 'rest')).toBe(error);
  });
});
