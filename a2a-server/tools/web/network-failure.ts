import { errorCode } from '../../../shared/runtime/errors.ts';
import { MAX_HEADER_BYTES } from './send-to-pinned-addresses.ts';

/** Turns Node's connection errors into sentences that name the host. Returns any other error unchanged. */
export function toNetworkError(error: unknown, { host, hostname }: URL): unknown {
  const sentence = sentenceOf(errorCode(error), host, hostname);
  return sentence === undefined ? error : new Error(sentence, { cause: error });
}

function sentenceOf(code: string | undefined, host: string, name: string): string | undefined {
  switch (code) {
    case undefined:
      return undefined;
    case 'ENOTFOUND':
    case 'ENODATA':
      return `There is no host ${name}, or it has no address.`;
    case 'EAI_AGAIN':
      return `The DNS lookup of ${name} failed; the network may be down.`;
    case 'ECONNREFUSED':
      return `${host} refused the connection.`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return `${host} is not reachable (${code}).`;
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return `${host} closed the connection early.`;
    case 'HPE_HEADER_OVERFLOW':
      return `${host} sent more than ${MAX_HEADER_BYTES / 1024} KiB of headers.`;
    default:
      return otherSentence(code, host);
  }
}

function otherSentence(code: string, host: string): string | undefined {
  if (code.startsWith('HPE_')) return `The response of ${host} is not HTTP (${code}).`;
  // These codes come from zlib (such as Z_DATA_ERROR and Z_BUF_ERROR) and from brotli (such as ERR__ERROR_FORMAT_…).
  if (/^(Z_|ERR__ERROR|ERR_BROTLI)/u.test(code))
    return `The body from ${host} is not in the compression that its header names (${code}).`;
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER|EPROTO/u.test(code))
    return `The TLS connection to ${host} failed (${code}).`;
  return undefined;
}
