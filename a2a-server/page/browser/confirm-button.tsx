/** Shows a button that asks for confirmation before it acts. */
import { useState } from 'preact/hooks';

interface ConfirmButtonProps {
  label: string;
  question: string;
  /** The label of the button that confirms the action. */
  yes: string;
  no: string;
  onYes: () => void;
}

export function ConfirmButton({ label, question, yes, no, onYes }: ConfirmButtonProps) {
  const [asks, setAsks] = useState(false);
  if (!asks) return <button onClick={() => setAsks(true)}>{label}</button>;
  return (
    <span class="row confirm" role="group" aria-label={question}>
      <span>{question}</span>
      <button
        class="danger"
        onClick={() => {
          setAsks(false);
          onYes();
        }}
      >
        {yes}
      </button>
      <button onClick={() => setAsks(false)}>{no}</button>
    </span>
  );
}
