/** A model that delegates one task over the bridge, and then says that it waits. */
import type { Received, Reply } from '../support/fake-model-endpoint.ts';

export const PROMPT = 'Let the assistant change beta to BETA in a.txt';

/** The offline model carries out this plan. */
const TASK = JSON.stringify({
  plan: [{ tool: 'edit-file', input: { path: 'a.txt', oldText: 'beta', newText: 'BETA' } }],
});
const ARGUMENTS = JSON.stringify({ task: TASK });

/** The client has not loaded the tools yet. */
export const NOT_READY = 'The tools are not ready.';
const ANSWER = 'Approve or deny the change of a.txt, and I go on.';

/** @returns the replies: to the first request that has the prompt and the tool, the call; to all others, a sentence */
export function delegatingModel(): (request: Received) => Reply {
  let called = false;
  return ({ text, path }) => {
    const tool = /"name":"([\w-]*delegate_task_to_assistant)"/.exec(text)?.[1];
    const call = called || !text.includes(PROMPT) ? undefined : tool;
    called ||= call !== undefined;
    if (path.endsWith('/responses')) return { type: 'raw', body: responsesBody(call, text) };
    const calls = call === undefined ? [] : [{ id: 'toolu_1', name: call, arguments: ARGUMENTS }];
    return { type: 'turn', turn: { text: call === undefined ? [called ? ANSWER : NOT_READY] : [], calls } };
  };
}

/** The events of OpenAI's Responses API. Codex puts the tools of an MCP server into a namespace. */
function responsesBody(call: string | undefined, request: string): string {
  const namespace = /"(mcp__[\w-]*a2a[\w-]*)"/.exec(request)?.[1];
  const item =
    call === undefined
      ? {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [{ type: 'output_text', text: ANSWER }],
        }
      : { type: 'function_call', id: 'fc_1', call_id: 'call_1', namespace, name: call, arguments: ARGUMENTS };
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    total_tokens: 2,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const events = [
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [item], usage } },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
