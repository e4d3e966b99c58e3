/** Writes the table of errors: what a client gets for each reason, and what to do. */
import { toJsonRpcError } from '@a2a-js/sdk/errors';
import { toWireError, WIRE_ERRORS } from '../../a2a-server/http/wire/wire-errors.ts';
import { exitCodeOf } from '../../bridge/cli/terminal/exit-codes.ts';
import { ERROR_REASONS, ProductError } from '../../shared/runtime/errors.ts';
import { code, table } from './markdown.ts';
import { itemsOf, sourceFile } from './source-comments.ts';

export function errorsSection(): string {
  const comments = itemsOf(sourceFile('shared/runtime/errors.ts').constant('ERROR_REASONS')?.source);
  const rows = ERROR_REASONS.map((reason, at) => {
    const error = new ProductError(reason, '');
    return [
      code(reason),
      String(toJsonRpcError(toWireError(error, 'jsonrpc')).code).replace('-', '−'),
      String(WIRE_ERRORS[reason].http),
      String(exitCodeOf(error)),
      error.retryable ? 'yes' : 'no',
      comments[at]?.comment ?? '',
    ];
  });
  return table(['reason', 'JSON-RPC', 'HTTP', 'exit code', 'retryable', 'meaning, and what to do'], rows);
}
