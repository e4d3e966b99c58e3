/** Shows a problem, if there is one. A screen reader says it at once. */
export function ProblemLine({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}
