/**
 * Reads the document of a registry from a file or a URL. The response of a URL has the same limits as the response of
 * an agent (`createAgentFetch`). The request contains no credentials.
 */
import { readFile, stat } from 'node:fs/promises';
import { isLoopback } from '../../../../shared/net/loopback.ts';
import { errorMessageOf, ProductError } from '../../../../shared/runtime/errors.ts';
import { fileProblem } from '../../../../shared/runtime/file-problem.ts';
import { zodIssuesText } from '../../../../shared/text/input-problem.ts';
import { createAgentFetch } from '../../../agents/http/agent-fetch.ts';
import { HttpError } from '../../../agents/http/request-errors.ts';
import { httpUrlSchema } from '../../../settings/agent-settings.ts';
import { UsageError } from '../../terminal/exit-codes.ts';
import { type ParsedAgentList, parseAgentList } from './agent-list.ts';
import { unusableRegistryError } from './registry-entry.ts';

const TIMEOUT_MS = 20_000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** The path of a host's catalog (AI Catalog 1.0, "Well-Known URI"). */
const WELL_KNOWN = '/.well-known/ai-catalog.json';
/** The accepted media types. Servers of static files may serve JSON as plain text. */
const ACCEPT = 'application/ai-catalog+json, application/json, text/plain';

interface RegistryAgentList extends ParsedAgentList {
  /** True if another machine wrote the list. */
  isRemote: boolean;
}

/**
 * Reads a registry, and returns its agents.
 * @param source a file or a URL. If the URL names only a host, the host's well-known catalog is read.
 * @throws UsageError; ProductError CONFIGURATION, AGENT_UNREACHABLE
 */
export async function readRegistry(source: string): Promise<RegistryAgentList> {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(source))
    return { ...parseAgentList(parseRegistryJson(await textOfFile(source))), isRemote: false };
  const address = httpUrlSchema.safeParse(source);
  if (!address.success)
    throw new UsageError(`This registry cannot be read: ${zodIssuesText(address.error)}.`);
  const url = new URL(source);
  if (url.pathname === '/' && url.search === '') url.pathname = WELL_KNOWN;
  return { ...parseAgentList(parseRegistryJson(await textAt(url))), isRemote: !isLoopback(url.hostname) };
}

async function textOfFile(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) throw new Error('the file has more than 64 MB');
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`The registry ${path} cannot be read: ${fileProblem(error)}.`);
  }
}

async function textAt(url: URL): Promise<string> {
  try {
    const response = await createAgentFetch({ origin: url.origin, headers: {} })(url, {
      headers: { accept: ACCEPT },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new HttpError(response.status, `HTTP ${String(response.status)}`);
    return await response.text();
  } catch (error) {
    throw new ProductError(
      'AGENT_UNREACHABLE',
      `The registry ${url.href} cannot be read: ${reasonOf(error)}.`,
      {
        cause: error,
      },
    );
  }
}

/** Returns the message of an error. For an error of `fetch`, returns the message of its cause, which says more. */
function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'it did not answer in time';
  return errorMessageOf(error instanceof TypeError ? (error.cause ?? error) : error);
}

function parseRegistryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unusableRegistryError(`it is not JSON (${errorMessageOf(error)})`, error);
  }
}
