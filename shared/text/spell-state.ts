/** A2A spells one task state `canceled`. Texts for people spell it `cancelled`. */
export function stateWord(state: string): string {
  return state === 'canceled' ? 'cancelled' : state;
}
