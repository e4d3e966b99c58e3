/**
 * Reads the bodies of provider errors. The AI SDK reads only the format of OpenAI, Anthropic and Google:
 * `{ "error": { "message": … } }`. For another format it reports only the text of the HTTP status, e.g. "Bad Request".
 *
 * | format                                              | sent by                               |
 * | --------------------------------------------------- | ------------------------------------- |
 * | `{ "error": "…" }`                                  | xAI, LM Studio                        |
 * | `{ "message": "…" }`                                | Mistral, older versions of vLLM       |
 * | `{ "detail": … }`                                   | servers that are written with FastAPI |
 * | `[{ "error": … }]`                                  | Google, for the OpenAI API            |
 * | `{ "error": { "metadata": { "raw": "…" } } }`       | OpenRouter                            |
 * | `{ "error": { "details": [{ "retryDelay": … }] } }` | Google                                |
 */
import { APICallError, TypeValidationError } from '@ai-sdk/provider';
import { fieldOf } from '../../shared/runtime/record.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

/** Returns the reason in a body that the AI SDK could not read. Undefined for every other error. */
export function unreadReason(thrown: unknown): string | undefined {
  const isRead = APICallError.isInstance(thrown)
    ? thrown.data !== undefined
    : !TypeValidationError.isInstance(thrown);
  if (isRead) return undefined;
  const body = bodyOf(thrown);
  const detail = fieldOf(body, 'detail');
  return [
    fieldOf(body, 'error'),
    fieldOf(errorIn(body), 'message'),
    Array.isArray(detail) ? JSON.stringify(detail) : detail,
  ].find((reason) => typeof reason === 'string');
}

/**
 * Returns the message of the model's provider from `metadata.raw`. OpenRouter's own message is only "Provider returned
 * error".
 *
 * Source: https://openrouter.ai/docs/api/reference/errors-and-debugging
 */
export function rawReason(thrown: unknown): string | undefined {
  const raw = fieldOf(fieldOf(errorIn(bodyOf(thrown)), 'metadata'), 'raw');
  return typeof raw === 'string' ? raw : undefined;
}

/** Returns the names of an error: its code and its type, if they are texts. */
export function errorNames(thrown: unknown): string[] {
  const error = errorIn(bodyOf(thrown));
  return [fieldOf(error, 'code'), fieldOf(error, 'type')].filter((name) => typeof name === 'string');
}

/**
 * Returns the pause that the provider requests, in milliseconds. `Retry-After` (RFC 9110 §10.2.3) contains seconds or a
 * date. Google sends a `google.rpc.RetryInfo` in the body instead, e.g. `"retryDelay": "37s"`.
 */
export function requestedPauseMs(thrown: unknown): number | undefined {
  if (!APICallError.isInstance(thrown)) return undefined;
  const value = thrown.responseHeaders?.['retry-after'] ?? retryDelay(thrown);
  const seconds = /^(\d{1,9}(?:\.\d+)?)s?$/.exec(value ?? '')?.[1];
  const ms = seconds === undefined ? Date.parse(value ?? '') - Date.now() : Math.ceil(Number(seconds) * 1000);
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function retryDelay(thrown: unknown): string | undefined {
  const details = fieldOf(errorIn(bodyOf(thrown)), 'details');
  if (!Array.isArray(details)) return undefined;
  const delays: unknown[] = details.map((detail) => fieldOf(detail, 'retryDelay'));
  return delays.find((delay) => typeof delay === 'string');
}

/** Returns the JSON that the provider sent. An error inside a stream is this JSON itself. */
function bodyOf(thrown: unknown): unknown {
  if (APICallError.isInstance(thrown)) {
    const body = parseJson(thrown.responseBody ?? '');
    return Array.isArray(body) ? (body[0] as unknown) : body;
  }
  return TypeValidationError.isInstance(thrown) ? thrown.value : thrown;
}

/** Returns the error in a body. If OpenAI has already accepted the request, the error is in `response.error`. */
function errorIn(body: unknown): unknown {
  return fieldOf(body, 'error') ?? fieldOf(fieldOf(body, 'response'), 'error') ?? body;
}
