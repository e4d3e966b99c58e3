/** Names the agent of a new task. If the server has several models, the person chooses one. */
import type { OfferedAgent } from '../../../../shared/protocol/offered-agent.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';

interface ModelChoiceProps {
  offered: OfferedAgent;
  /** The chosen model. '' for the default. */
  model: string;
  onChoose: (model: string) => void;
}

export function ModelSelect({ offered: { agent, models }, model, onChoose }: ModelChoiceProps) {
  if (models.length === 0)
    return (
      <p>
        Agent
        <br />
        <span class="quiet">{visibleLine(agent)}</span>
      </p>
    );
  return (
    <label>
      Agent
      <select value={model} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="">{visibleLine(agent)} (default)</option>
        {models.map(({ name, id }) => (
          <option key={name} value={name}>
            {visibleLine(name === id ? id : `${name} (${id})`)}
          </option>
        ))}
      </select>
    </label>
  );
}
