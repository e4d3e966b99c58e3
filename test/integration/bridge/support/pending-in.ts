/** Reads the pending action of a tool's result. */
import { z } from 'zod';
import type { ToolResult } from './raw-client.ts';

const withPending = z.looseObject({
  pending: z
    .array(
      z.looseObject({
        callId: z.string(),
        shown: z.string(),
        title: z.string(),
        preview: z.string(),
        reason: z.string(),
      }),
    )
    .min(1),
});
export type ShownAction = z.infer<typeof withPending>['pending'][number];

/** @throws Error if no action is pending */
export function pendingIn({ structuredContent }: ToolResult): ShownAction {
  const [action] = withPending.parse(structuredContent).pending;
  if (action === undefined) throw new Error('nothing waits');
  return action;
}
