import type { TrustLimitTexts } from './trust-limits.ts';

interface TrustLimitsProps {
  limits: TrustLimitTexts;
  disabled: boolean;
  onChange: (limits: TrustLimitTexts) => void;
}

export function TrustLimitFields({ limits, disabled, onChange }: TrustLimitsProps) {
  return (
    <div class="row">
      <input
        type="number"
        min="1"
        aria-label="Trust for this many minutes (empty: until the task ends)"
        placeholder="minutes (no limit)"
        disabled={disabled}
        value={limits.minutes}
        onInput={(event) => onChange({ ...limits, minutes: event.currentTarget.value })}
      />
      <input
        type="number"
        min="1"
        step="1"
        aria-label="Trust for this many later calls (empty: no limit)"
        placeholder="later calls (no limit)"
        disabled={disabled}
        value={limits.uses}
        onInput={(event) => onChange({ ...limits, uses: event.currentTarget.value })}
      />
    </div>
  );
}
