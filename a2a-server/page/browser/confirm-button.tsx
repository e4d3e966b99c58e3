/** Shows a button that asks for confirmation before it acts. */
import { useState } from 'preact/hooks';
import { useKeptFocus } from './use-kept-focus.ts';

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
  const box = useKeptFocus<HTMLSpanElement>();
  if (!asks)
    return (
      <span ref={box} tabIndex={-1}>
        <button key="ask" onClick={() => setAsks(true)}>
          {label}
        </button>
      </span>
    );
  return (
    <span ref={box} tabIndex={-1} class="row confirm" role="group" aria-label={question}>
      <span>{question}</span>
      {/* The `key` attributes make Preact create new elements. Otherwise the first button would become the confirming
          button and keep the focus. */}
      <button
        key="yes"
        class="danger"
        onClick={() => {
          setAsks(false);
          onYes();
        }}
      >
        {yes}
      </button>
      <button key="no" onClick={() => setAsks(false)}>
        {no}
      </button>
    </span>
  );
}
