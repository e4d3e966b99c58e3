/** Shows the fields for the limits of a person's trust in later calls. */
import type { TrustLimits } from './trust-limits.ts';

interface TrustLimitsProps {
  limits: TrustLimits;
  disabled: boolean;
  onChange: (limits: TrustLimits) => void;
}

export function TrustLimitFields({ limits, disabled, onChange }: TrustLimitsProps) {
  return (
    <div class="row">
      <input
        type="number"
        min="1"
        aria-label="Trust for so many minutes"
        placeholder="minutes, or as long as the task"
        disabled={disabled}
        value={limits.minutes}
        onInput={(event) => onChange({ ...limits, minutes: event.currentTarget.value })}
      />
      <input
        type="number"
        min="1"
        step="1"
        aria-label="Trust for so many later calls"
        placeholder="later calls, or any number"
        disabled={disabled}
        value={limits.uses}
        onInput={(event) => onChange({ ...limits, uses: event.currentTarget.value })}
      />
    </div>
  );
}
