import { render } from 'preact';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { guardClicks } from '../click-guard.ts';
import { ApprovalCard } from './approval-card.tsx';
import { CardTools, type SessionAddress, sessionOfResult } from './card-tools.ts';
import { type HostInitializeResult, McpAppHostConnection, type HostContext } from './host-connection.ts';

const page = document.getElementById('page');
if (page !== null) await start(page);

async function start(root: HTMLElement): Promise<void> {
  const prefix = document.documentElement.dataset['toolPrefix'] ?? '';
  let host: HostInitializeResult | undefined;
  let session: SessionAddress | undefined;
  const show = (): void => {
    if (host === undefined || session === undefined) return;
    if (!host.callsTools)
      root.textContent = 'This client does not let the card call the bridge. Decide in the chat.';
    else
      render(
        <ApprovalCard
          key={JSON.stringify(session)}
          connection={connection}
          host={host}
          tools={tools}
          address={session}
        />,
        root,
      );
  };
  const connection = new McpAppHostConnection(window.parent, {
    onResult(structured) {
      session = sessionOfResult(structured);
      show();
    },
    onContext: applyTheme,
  });
  const tools = new CardTools(connection, prefix);
  guardClicks(root);
  new ResizeObserver(() => {
    const { width, height } = document.documentElement.getBoundingClientRect();
    connection.sizeChanged({ width: Math.ceil(width), height: Math.ceil(height) });
  }).observe(document.documentElement);
  try {
    host = await connection.initialize();
  } catch (error) {
    root.textContent = errorMessageOf(error);
    return;
  }
  applyTheme(host.context);
  show();
}

function applyTheme({ theme }: HostContext): void {
  if (theme !== undefined) document.documentElement.style.colorScheme = theme;
}
