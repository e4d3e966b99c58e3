import { describe, expect, test } from '@jest/globals';
import { APICallError } from '@ai-sdk/provider';
import { RETRY_AFTER_FACT } from '../../../../a2a-server/models/model.ts';
import { PROVIDER_RETRY_POLICY, withRetries } from '../../../../a2a-server/models/retry-policy.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';

const CONTEXT = { model: 'openai:m', keySource: 'OPENAI_API_KEY', secrets: [] };

describe('the retries of a model request', () => {
  test('if a provider requests a long pause, no retry follows at once: the task waits, and shows the reason immediately', async () => {
    let attempts = 0;
    const busy = async (): Promise<never> => {
      attempts += 1;
      throw new APICallError({
        message: 'busy',
        url: 'http://h',
        requestBodyValues: {},
        statusCode: 429,
        responseHeaders: { 'retry-after': '8' },
      });
    };
    const { signal } = new AbortController();
    const failure = await withRetries(busy, {
      retryPolicy: PROVIDER_RETRY_POLICY,
      failureContext: CONTEXT,
      signal,
    }).catch((error: unknown) => error);
    expect(attempts).toBe(1);
    expect(failure).toBeInstanceOf(ProductError);
    expect(failure).toMatchObject({ facts: { [RETRY_AFTER_FACT]: '8000' } });
  });
});
