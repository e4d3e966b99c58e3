/** Shows the search field and the filters of the task list. */
import type { TaskGroups } from '../../../../shared/protocol/task-groups.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { STATE_TEXTS } from '../state-text.ts';
import { areFiltersOn, NO_FILTERS, type PageTaskFilters } from '../task-filters.ts';

interface TaskFilterFieldsProps {
  filters: PageTaskFilters;
  /** The offered values of the filters. Undefined before the first answer of the server. */
  offered: Pick<TaskGroups, 'workspaces' | 'models'> | undefined;
  onChange: (filters: PageTaskFilters) => void;
}

const plain = (value: string) => ({ value, text: visibleLine(value) });

const STATES = ['waiting', 'working', 'completed', 'canceled', 'failed', 'rejected'] as const;

export function TaskFilterFields({ filters, offered, onChange }: TaskFilterFieldsProps) {
  const { workspaces = [], models = [] } = offered ?? {};
  const states = STATES.map((state) => ({ value: state, text: STATE_TEXTS[state] }));
  return (
    <search class="filters">
      <input
        id="search"
        type="search"
        aria-label="Search the tasks"
        placeholder="Search the tasks"
        value={filters.text}
        onInput={({ currentTarget }) => onChange({ ...filters, text: currentTarget.value })}
      />
      <div class="row">
        <Choice
          name="State"
          any="Any state"
          value={filters.state}
          options={states}
          onChange={(state) => onChange({ ...filters, state })}
        />
        {(workspaces.length > 1 || filters.workspace !== '') && (
          <Choice
            name="Workspace"
            any="Any workspace"
            value={filters.workspace}
            options={workspaces.map(plain)}
            onChange={(workspace) => onChange({ ...filters, workspace })}
          />
        )}
        {(models.length > 1 || filters.model !== '') && (
          <Choice
            name="Model"
            any="Any model"
            value={filters.model}
            options={models.map(plain)}
            onChange={(model) => onChange({ ...filters, model })}
          />
        )}
        {areFiltersOn(filters) && (
          <button type="button" onClick={() => onChange(NO_FILTERS)}>
            Clear
          </button>
        )}
      </div>
    </search>
  );
}

interface ChoiceProps {
  name: string;
  any: string;
  value: string;
  options: readonly { value: string; text: string }[];
  onChange: (value: string) => void;
}

function Choice({ name, any, value, options, onChange }: ChoiceProps) {
  // The filter in the page's address may be a value that no task has. The field then offers this value too.
  const known = value === '' || options.some((option) => option.value === value);
  return (
    <select aria-label={name} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      <option value="">{any}</option>
      {!known && <option value={value}>{visibleLine(value)}</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  );
}
