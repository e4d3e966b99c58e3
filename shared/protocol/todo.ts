/** An item of the agent's to-do list, part of `urn:mcp-a2a-bridge:tool-approval:v1`. */
import { z } from 'zod';

export const todoSchema = z.strictObject({
  text: z.string().min(1).max(200).describe('What is to be done, in a few words.'),
  status: z.enum(['pending', 'in_progress', 'done']),
});
export type Todo = z.infer<typeof todoSchema>;
