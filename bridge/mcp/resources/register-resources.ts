/**
 * Offers tasks as MCP resources. A client can read them and link to them. R70: it can also read the rest of a cut
 * result. Clients without resources use the tools.
 */
import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import type { ListResourcesResult, ReadResourceResult, Variables } from '@modelcontextprotocol/server';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { visibleLine, visibleText, escapeHiddenCharacters } from '../../../shared/text/visible-text.ts';
import type { BridgeContext } from '../bridge-context.ts';
import type { McpServerOptions } from '../tool/tool-serving-context.ts';
import { announcedResultsText } from '../../inbox/format-announcement.ts';
import type { ToolName } from '../../tool-names/tool-names.ts';
import { agentOutputText } from '../reports/session-report.ts';
import type { ListedSession } from '../../sessions/list-sessions.ts';
import { hasEnded } from '../../sessions/session/observed-task.ts';
import {
  TASK_RESOURCE_MIME_TYPES,
  parseTaskUriVariables,
  TASK_RESOURCES,
  TASK_URI_TEMPLATE,
  TASK_URI_TEMPLATE_WITH_OFFSET,
  type TaskResource,
  taskUri,
} from '../../sessions/task-uri.ts';
import { refuseCursor } from '../lists/refuse-cursor.ts';

/** The maximum number of sessions in `resources/list`, newest first. Resource templates give access to the others. */
const MAX_LISTED_SESSIONS = 25;

const DESCRIPTIONS: Readonly<Record<TaskResource, string>> = {
  state: 'where the task stands',
  transcript: 'its messages and tool calls',
  artifacts: 'its whole output',
  diff: 'what its pending actions would do',
};

const KINDS = TASK_RESOURCES.map((part) => `${part} (${DESCRIPTIONS[part]})`).join(', ');

/**
 * The URI of the text that announces uncollected results. This text is returned beside a resource. A client cannot read
 * this URI itself.
 */
const INBOX_URI = 'task://inbox';

export function registerResources(
  server: McpServer,
  { prefix, bridge }: Pick<McpServerOptions, 'prefix' | 'bridge'>,
): void {
  const name = (tool: ToolName): string => `${prefix}${tool}`;
  const read = async (uri: URL, variables: Variables): Promise<ReadResourceResult> => {
    const address = parseTaskUriVariables(variables);
    if (address === undefined) throw new ResourceNotFoundError(uri.href);
    const { readTaskResource } = await import('./read-task-resource.ts');
    try {
      const opened = await bridge();
      const looked = opened.inbox.refresh();
      const text = await readTaskResource(opened, address);
      await looked;
      const news = announcedResultsText(await opened.inbox.take(), name);
      const { part, from } = address;
      return {
        contents: [
          {
            uri: uri.href,
            mimeType: TASK_RESOURCE_MIME_TYPES[part],
            text: part === 'artifacts' ? visibleText(text.slice(from)) : text.slice(from),
          },
          // The announcement comes second, because programs read only the first content.
          ...(news === ''
            ? []
            : [{ uri: INBOX_URI, mimeType: 'text/plain', text: escapeHiddenCharacters(news) }]),
        ],
      };
    } catch (error) {
      const unknown = error instanceof ProductError && ABSENT.has(error.reason);
      throw unknown ? new ResourceNotFoundError(uri.href, error.message) : error;
    }
  };
  server.registerResource(
    'task',
    new ResourceTemplate(TASK_URI_TEMPLATE, { list: undefined }),
    { title: RESOURCE_TITLE, description: `Part of a task: ${KINDS}.` },
    read,
  );
  server.registerResource(
    'task-from',
    new ResourceTemplate(TASK_URI_TEMPLATE_WITH_OFFSET, { list: undefined }),
    { title: 'The rest of a task', description: 'The same, without its first {from} characters.' },
    read,
  );
  // Replaces the SDK's handler, because that handler ignores an invalid cursor.
  server.server.setRequestHandler('resources/list', async ({ params }) => {
    refuseCursor(params);
    return listResources(await bridge());
  });
}

const RESOURCE_TITLE = 'A task';
const ABSENT: ReadonlySet<string> = new Set(['UNKNOWN_AGENT', 'UNKNOWN_SESSION', 'UNKNOWN_TASK']);

async function listResources(bridge: BridgeContext): Promise<ListResourcesResult> {
  const { sessions } = await bridge.sessions.list({ newest: MAX_LISTED_SESSIONS });
  const resources = sessions.slice(0, MAX_LISTED_SESSIONS).flatMap((session) => partsOf(bridge, session));
  return { resources };
}

function partsOf(bridge: BridgeContext, session: ListedSession): ListResourcesResult['resources'] {
  const { sessionId, taskId, agent, title, pending, updatedAt } = session;
  if (taskId === null) return [];
  return TASK_RESOURCES.filter((part) => part !== 'diff' || pending > 0).map((part) => {
    const size = part === 'artifacts' ? sizeOf(bridge, taskId, agent) : undefined;
    return {
      uri: taskUri({ agent, sessionId, taskId, part }),
      title: RESOURCE_TITLE,
      name: `${title === '' ? taskId : visibleLine(title)} (${part})`,
      description: `${DESCRIPTIONS[part]}; session ${sessionId} with ${agent}`,
      mimeType: TASK_RESOURCE_MIME_TYPES[part],
      ...(size === undefined ? {} : { size }),
      ...(updatedAt === '' ? {} : { annotations: { lastModified: updatedAt } }),
    };
  });
}

/** Returns the size of a task's output in bytes, if this bridge already has it. Asking the agents would be slow. */
function sizeOf({ live }: BridgeContext, taskId: string, agent: string): number | undefined {
  const view = live.find(taskId, agent)?.view;
  return view !== undefined && hasEnded(view) ? Buffer.byteLength(agentOutputText(view)) : undefined;
}
