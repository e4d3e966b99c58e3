import { useContext, useState } from 'preact/hooks';
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';
import { visibleLine, visibleText } from '../../../../shared/text/visible-text.ts';
import { clickOnEnter } from '../click-on-enter.ts';
import { TaskDraftsContext } from './drafts-context.ts';
import {
  answerFromForm,
  EMPTY_FILLED_FORM,
  fieldTextOf,
  questionFields,
  listItemsOf,
  withListItem,
  type FilledForm,
  type QuestionField,
  type QuestionPreview,
} from './question-answer.ts';

interface QuestionFormProps {
  action: PendingAction;
  question: QuestionPreview;
  disabled: boolean;
  onDecide: (decision: Decision) => void;
}

export function QuestionForm({ action: { callId, shown }, question, disabled, onDecide }: QuestionFormProps) {
  const { answers } = useContext(TaskDraftsContext);
  const [form, setForm] = useState(answers.get(callId) ?? EMPTY_FILLED_FORM);
  const { chosen, text } = form;
  const change = (changed: Partial<FilledForm>): void => {
    const next = { ...form, ...changed };
    answers.set(callId, next);
    setForm(next);
  };
  const { choices = [], multiple = false, schema } = question;
  const words = schema === undefined && (choices.length === 0 || question.freeText === true);
  const answer = answerFromForm(question, form);
  const send = (): void => {
    if (answer !== undefined) onDecide({ callId, shown, decision: 'answer', answer });
  };
  return (
    <div data-key="a" onKeyDown={clickOnEnter}>
      {choices.length > 0 && (
        <div role={multiple ? 'group' : 'radiogroup'} aria-label={visibleLine(question.text)}>
          {choices.map(({ label, description }) => (
            <label class="choice" key={label}>
              <input
                type={multiple ? 'checkbox' : 'radio'}
                name={callId}
                checked={chosen.includes(label)}
                onChange={({ currentTarget: { checked } }) => {
                  const others = multiple ? chosen.filter((each) => each !== label) : [];
                  change({ chosen: checked ? [...others, label] : others });
                }}
              />
              <span>
                {visibleLine(label)}{' '}
                {description !== undefined && <small class="quiet">{visibleText(description)}</small>}
              </span>
            </label>
          ))}
        </div>
      )}
      {questionFields(question).map((field) => (
        <Field
          key={field.name}
          field={field}
          text={fieldTextOf(form, field.name)}
          onChange={(changed) => change({ values: { ...form.values, [field.name]: changed } })}
        />
      ))}
      {words && (
        <textarea
          aria-label="Your answer"
          placeholder={placeholderOf(question)}
          value={text}
          onInput={({ currentTarget: { value } }) =>
            // If only one choice is allowed, the text replaces it. The person sees that no option is chosen any more.
            change(multiple ? { text: value } : { text: value, chosen: [] })
          }
        />
      )}
      {words && !multiple && chosen.length > 0 && text.trim() !== '' && (
        <p class="quiet">Your choice is sent, without the text. To send the text, type in it.</p>
      )}
      <div class="row">
        <button class="main" data-enter disabled={disabled || answer === undefined} onClick={send}>
          Answer
        </button>
        <button
          data-key="d"
          disabled={disabled}
          onClick={() => onDecide({ callId, shown, decision: 'deny' })}
        >
          Decline
        </button>
      </div>
    </div>
  );
}

interface FieldProps {
  field: QuestionField;
  text: string;
  onChange: (text: string) => void;
}

function Field({ field: { title, description, options, type }, text, onChange }: FieldProps) {
  const name = visibleLine(title);
  const about = description !== undefined && <small class="quiet">{visibleText(description)}</small>;
  if (type === 'list')
    return (
      <div role="group" aria-label={name}>
        <span>{name}</span> {about}
        {options?.map(([value, label]) => (
          <label class="choice" key={value}>
            <input
              type="checkbox"
              checked={listItemsOf(text).includes(value)}
              onChange={({ currentTarget: { checked } }) => onChange(withListItem(text, value, checked))}
            />
            <span>{visibleLine(label)}</span>
          </label>
        ))}
      </div>
    );
  return (
    <label class="row">
      <span>{name}</span>
      {options === undefined ? (
        <input
          type={type}
          step="any"
          value={text}
          onInput={({ currentTarget: { value } }) => onChange(value)}
        />
      ) : (
        <select value={text} onChange={({ currentTarget: { value } }) => onChange(value)}>
          <option value="" />
          {options.map(([value, label]) => (
            <option key={value} value={value}>
              {visibleLine(label)}
            </option>
          ))}
        </select>
      )}
      {about}
    </label>
  );
}

function placeholderOf({ choices = [], multiple = false }: QuestionPreview): string {
  if (choices.length === 0) return '';
  return multiple ? 'In other words' : 'In other words, instead of a choice';
}
