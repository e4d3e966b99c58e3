type TypedDecision =
  | { type: 'approve' }
  | { type: 'deny'; reason?: string }
  | { type: 'leave' }
  | { type: 'unclear' };

/** Parses the text that a person typed at the prompt. `y` approves. `n` denies, and a reason may follow. */
export function parseTypedDecision(text: string): TypedDecision {
  const [word = '', ...rest] = text.trim().split(/\s+/);
  if (word === '') return { type: 'leave' };
  if (/^y(es)?$/i.test(word) && rest.length === 0) return { type: 'approve' };
  if (!/^no?$/i.test(word)) return { type: 'unclear' };
  return rest.length === 0 ? { type: 'deny' } : { type: 'deny', reason: rest.join(' ') };
}
