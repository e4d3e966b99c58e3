/** Returns the word for a task state in texts for people. A2A writes `canceled`; these texts write `cancelled`. */
export function taskStateWord(state: string): string {
  return state === 'canceled' ? 'cancelled' : state;
}
