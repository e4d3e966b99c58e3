/** Builds and checks the person's draft of an edit: a text, or the texts of a form. Pure. */
import { type Editable, parseJsonObject, withLfLineBreaks } from './editable.ts';
import { type FieldTexts, type InputField, inputFields, inputOfFields } from './edited-input-fields.ts';

export type EditDraft =
  /** `text` is the text of the field, with LF as the only line break. */
  | { view: 'text'; text: string }
  | {
      view: 'form';
      /** The input from which the form started. */
      input: Readonly<Record<string, unknown>>;
      fields: readonly InputField[];
      /** The new texts of the fields that the person has changed. */
      texts: FieldTexts;
      /** True after the person has tried to continue with an invalid form. The page then shows each problem. */
      checked: boolean;
    };
type FormDraft = Extract<EditDraft, { view: 'form' }>;

/**
 * Returns the draft at the start of an edit. The draft is a form if the whole input is edited and the schema allows a
 * form (`inputFields`). Otherwise the draft is a text.
 */
export function initialEditDraft({ type, text }: Editable, schema: unknown): EditDraft {
  return (
    (type === 'input' ? createFormDraft(text, schema) : undefined) ?? {
      view: 'text',
      text: withLfLineBreaks(text),
    }
  );
}

/**
 * Returns the form for an input. Returns undefined if there is no form for this schema.
 * @throws Error if the text is not a JSON object
 */
export function createFormDraft(text: string, schema: unknown): FormDraft | undefined {
  const input = parseJsonObject(text);
  const fields = inputFields(schema, input);
  return fields && { view: 'form', input, fields, texts: new Map(), checked: false };
}

/** Returns the draft as a text. Returns undefined if the form is invalid. */
export function draftText(draft: EditDraft): string | undefined {
  if (draft.view === 'text') return draft.text;
  const filled = inputOfFields(draft.fields, draft.texts, draft.input);
  return filled.type === 'valid' ? JSON.stringify(filled.input, null, 2) : undefined;
}

/**
 * Returns the problems that the form shows now, by field name. At first, the form shows only the problems of the fields
 * that the person has changed. After the person has tried to continue (`checked`), it shows all problems.
 */
export function shownFieldProblems(draft: FormDraft): ReadonlyMap<string, string> {
  const filled = inputOfFields(draft.fields, draft.texts, draft.input);
  if (filled.type === 'valid') return new Map();
  return new Map([...filled.problems].filter(([name]) => draft.checked || draft.texts.has(name)));
}
