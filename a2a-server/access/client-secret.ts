/**
 * Reads the OAuth client secret with which the approval page signs people in at the OpenID Connect provider. The
 * settings contain only the source of the secret.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import { fileProblem } from '../../shared/runtime/file-problem.ts';
import { readApiKeyFromCommand, SENDABLE_API_KEY_PATTERN } from '../../shared/runtime/key-command.ts';
import type { Environment } from '../../shared/runtime/environment.ts';

export const clientSecretSourceSchema = z.union(
  [
    z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
    z.strictObject({ file: z.string().min(1) }),
    z.strictObject({ command: z.array(z.string().min(1)).min(1).max(100) }),
  ],
  {
    error:
      'a secret is {"env": "NAME"}, {"file": "/path"} or {"command": ["program", "argument"]}; the secret itself does not belong in the file',
  },
);
type ClientSecretSource = z.infer<typeof clientSecretSourceSchema>;

/** Reads the secret. @throws ProductError CONFIGURATION. Its message contains no secret. */
export async function readClientSecret(source: ClientSecretSource, env: Environment): Promise<string> {
  if ('command' in source) return secretOfCommand(source.command);
  const [place, text] =
    'env' in source
      ? [`The environment variable ${source.env}`, env[source.env]]
      : [`The file ${source.file}`, await textOfFile(source.file)];
  const secret = text?.trim() ?? '';
  if (SENDABLE_API_KEY_PATTERN.test(secret)) return secret;
  throw unreadableSecretError(
    `${place} ${secret === '' ? 'is missing or empty' : 'contains spaces or special characters'}`,
  );
}

async function textOfFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw unreadableSecretError(`${path}: ${fileProblem(error)}`, error);
  }
}

async function secretOfCommand(command: readonly string[]): Promise<string> {
  try {
    return await readApiKeyFromCommand(command);
  } catch (error) {
    throw unreadableSecretError(`The command (${command[0] ?? ''} …) ${errorMessageOf(error)}`, error);
  }
}

function unreadableSecretError(problem: string, cause?: unknown): ProductError {
  return new ProductError(
    'CONFIGURATION',
    `The secret of the page's client ("oidc.signIn.clientSecret") cannot be read: ${problem.replace(/\.$/, '')}.`,
    { facts: { key: 'oidc' }, cause },
  );
}
