/** Explains why an input does not fit a tool's schema, in one sentence that names the fields. */
import type { z } from 'zod';

/** The sentence counts further problems but does not list them. */
const MAX_ISSUES = 8;

export function inputProblem(tool: string, error: z.ZodError): string {
  const issues = error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
  });
  const more = error.issues.length - issues.length;
  if (more > 0) issues.push(`and ${more} more`);
  return `The input of ${tool} does not fit: ${issues.join('; ')}.`;
}
