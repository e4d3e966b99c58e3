/** The state of a task as sentences spell it. A2A spells one of its states `canceled`; our sentences say `cancelled`. */
export function stateWord(state: string): string {
  return state === 'canceled' ? 'cancelled' : state;
}
