import { useState } from 'preact/hooks';
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';
import { clickOnEnter } from '../click-on-enter.ts';
import { answerFromForm, fieldsOf, type Question } from './question-answer.ts';

interface QuestionFormProps {
  action: PendingAction;
  question: Question;
  disabled: boolean;
  onDecide: (decision: Decision) => void;
}

export function QuestionForm({ action: { callId, shown }, question, disabled, onDecide }: QuestionFormProps) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [text, setText] = useState('');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const { choices = [], multiple = false, schema } = question;
  const words = schema === undefined && (choices.length === 0 || question.freeText === true);
  const answer = answerFromForm(question, { chosen, text, values });
  const send = (): void => {
    if (answer !== undefined) onDecide({ callId, shown, decision: 'answer', answer });
  };
  return (
    <div data-key="a" onKeyDown={clickOnEnter}>
      {choices.map(({ label, description }) => (
        <label class="choice" key={label}>
          <input
            type={multiple ? 'checkbox' : 'radio'}
            name={callId}
            checked={chosen.includes(label)}
            onChange={({ currentTarget: { checked } }) => {
              const others = multiple ? chosen.filter((each) => each !== label) : [];
              setChosen(checked ? [...others, label] : others);
            }}
          />
          <span>
            {label} {description !== undefined && <small class="quiet">{description}</small>}
          </span>
        </label>
      ))}
      {fieldsOf(question).map(({ name, title, description, options, type }) => (
        <label class="row" key={name}>
          <span>{title}</span>
          {options === undefined ? (
            <input
              type={type}
              step="any"
              value={values[name] ?? ''}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          ) : (
            <select
              value={values[name] ?? ''}
              onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            >
              <option value="" />
              {options.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
          {description !== undefined && <small class="quiet">{description}</small>}
        </label>
      ))}
      {words && (
        <textarea
          aria-label="Your answer"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
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
