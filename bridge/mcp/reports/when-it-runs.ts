/** Says when an approved call runs. It depends on the agent's dialect. Pure. */
export function whenItRuns({ oneByOne = false }: { oneByOne?: boolean }): string {
  return oneByOne
    ? 'An approved call runs at once; then the agent asks for the next call of its turn. A denial drops the calls after it.'
    : 'Nothing runs until every pending action is decided.';
}
