/** Shows the cost of each turn of a task. The page fetches it when the person opens the list. */
import { useState } from 'preact/hooks';
import type { A2aClient } from '../../../../shared/client/index.ts';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { costRequestLabel, requestPriceText } from '../../../../shared/text/cost-text.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { useLoaded } from '../use-loaded.ts';

interface TurnCostsProps {
  client: A2aClient;
  taskId: string;
  /** The cost of the task as text. When it changes, the page fetches the list again. */
  cost: string;
}

export function TurnCosts({ client, taskId, cost }: TurnCostsProps) {
  const [open, setOpen] = useState(false);
  const { value, error } = useLoaded(
    () => (open ? client.taskCosts(taskId) : undefined),
    [client, taskId, cost, open],
  );
  const requests = value?.requests;
  return (
    <details class="turn-costs" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Cost of each turn</summary>
      {error !== undefined && <p class="problem">{visibleLine(errorMessageOf(error))}</p>}
      {requests?.length === 0 && <p class="quiet">The turns of this task have no tokens.</p>}
      {requests !== undefined && requests.length > 0 && (
        <table aria-label="Cost of each turn">
          <thead>
            <tr>
              {['Turn', 'Tokens in', 'Cache read', 'Cache written', 'Tokens out', 'Cost', 'Model'].map(
                (title) => (
                  <th key={title}>{title}</th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {requests.map((request) => (
              <tr key={`${request.at} ${costRequestLabel(request)}`}>
                <td>{costRequestLabel(request)}</td>
                <td>{request.inputTokens}</td>
                <td>{request.cachedInputTokens}</td>
                <td>{request.cacheWriteTokens}</td>
                <td>{request.outputTokens}</td>
                <td>{requestPriceText(request)}</td>
                <td>{visibleLine(request.model)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}
