/** Builds the call context for the SDK's HTTP+JSON handlers of both versions. */
import type { RequestHandler } from 'express';
import type { ServerCallContextBuilder } from '@a2a-js/sdk/server';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { Caller } from '../auth/caller.ts';
import { CallContext } from '../auth/call-context.ts';
import { checkWireMessage } from '../wire/incoming.ts';
import { messageIn, a2aVersionOf } from '../wire/json-rpc-envelope.ts';
import type { WireFormat } from '../wire/wire-errors.ts';

export function restContext(wire: WireFormat, log: Logger): ServerCallContextBuilder {
  return ({ user, headers }) => {
    if (!(user instanceof Caller))
      throw new ProductError('UNAUTHENTICATED', 'This request was not authenticated.');
    const { version } = a2aVersionOf(headers['a2a-version']?.toString());
    return new CallContext({ caller: user, wire, requestedVersion: version, headers, log });
  };
}

/** Rejects messages whose meaning the SDK's codec would change. */
export const checkMessageBody: RequestHandler = (request, _response, next) => {
  checkWireMessage(messageIn(request.body));
  next();
};
