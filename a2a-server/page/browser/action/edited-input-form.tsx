/** Shows the input of a tool as a form with one labelled field for each property. */
import { useId } from 'preact/hooks';
import type { FieldTexts, InputField } from './edited-input-fields.ts';

interface EditedInputFormProps {
  fields: readonly InputField[];
  texts: FieldTexts;
  /** The problems of the invalid fields, by field name. */
  problems: ReadonlyMap<string, string>;
  onChange: (texts: FieldTexts) => void;
}

export function EditedInputForm({ fields, texts, problems, onChange }: EditedInputFormProps) {
  return (
    <div class="input-form" role="group" aria-label="The edited input">
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          text={texts.get(field.name) ?? field.text}
          problem={problems.get(field.name)}
          onInput={(text) => onChange(new Map([...texts, [field.name, text]]))}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  field: InputField;
  text: string;
  problem: string | undefined;
  onInput: (text: string) => void;
}

function Field({ field, text, problem, onInput }: FieldProps) {
  const id = useId();
  const { label, description } = field;
  const about = [description !== '' && `${id}-help`, problem !== undefined && `${id}-problem`];
  return (
    <div class="input-field">
      <label for={id}>
        {label} <small class="quiet">{noteOf(field)}</small>
      </label>
      <Control
        {...{ field, text, onInput, id }}
        invalid={problem !== undefined}
        describedBy={about.filter((each) => each !== false).join(' ')}
      />
      {description !== '' && (
        <small class="quiet" id={`${id}-help`}>
          {description}
        </small>
      )}
      {problem !== undefined && (
        <small class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </small>
      )}
    </div>
  );
}

function noteOf({ required, control }: InputField): string {
  const kind = control.type === 'json' ? ['JSON'] : [];
  return [...kind, required ? 'required' : 'optional'].join(', ');
}

/** Returns the text that explains an empty choice. */
function emptyText({ required, nullable }: InputField): string {
  if (nullable) return 'none';
  return required ? '' : 'left out';
}

interface ControlProps {
  id: string;
  field: InputField;
  text: string;
  invalid: boolean;
  /** The ids of the elements that describe the field. */
  describedBy: string;
  onInput: (text: string) => void;
}

function Control({ id, field, text, invalid, describedBy, onInput }: ControlProps) {
  const { control, required } = field;
  const shared = {
    id,
    'aria-required': required,
    'aria-invalid': invalid,
    'aria-describedby': describedBy === '' ? undefined : describedBy,
  };
  switch (control.type) {
    case 'choice':
      return (
        <select {...shared} value={text} onChange={({ currentTarget }) => onInput(currentTarget.value)}>
          <option value="">{emptyText(field)}</option>
          {control.options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      );
    case 'lines':
    case 'json':
      return (
        <textarea
          {...shared}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      );
    case 'line':
    case 'number':
      return (
        <input
          {...shared}
          // This is a text field. `<input type="number">` would have an empty value for an invalid number, and the page
          // could not show what is wrong.
          inputMode={control.type === 'number' ? 'decimal' : undefined}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      );
  }
}
