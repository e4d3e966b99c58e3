/** Parses what a person types when `run` asks for a decision. Pure. */

type TypedDecision =
  | { type: 'approve' }
  | { type: 'deny'; reason?: string }
  /** Nothing was typed. Silence never approves. */
  | { type: 'leave' }
  | { type: 'unclear' };

/** `y` approves; `n`, with or without a reason after it, denies. */
export function typedDecision(text: string): TypedDecision {
  const [word = '', ...rest] = text.trim().split(/\s+/);
  if (word === '') return { type: 'leave' };
  if (/^y(es)?$/i.test(word) && rest.length === 0) return { type: 'approve' };
  if (!/^no?$/i.test(word)) return { type: 'unclear' };
  return rest.length === 0 ? { type: 'deny' } : { type: 'deny', reason: rest.join(' ') };
}
