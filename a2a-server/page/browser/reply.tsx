/** Shows a free-text question and its reply form. */
import { useState } from 'preact/hooks';

interface ReplyProps {
  question: string;
  onSay: (text: string) => Promise<boolean>;
}

export function Reply({ question, onSay }: ReplyProps) {
  const [text, setText] = useState('');
  const [sending, setSending] = useState(false);
  return (
    <section class="action">
      <h3>{question === '' ? 'The agent waits for your next message.' : question}</h3>
      <textarea
        aria-label="Your answer"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="row">
        <button
          class="main"
          disabled={sending || text.trim() === ''}
          onClick={() => {
            setSending(true);
            void onSay(text).finally(() => setSending(false));
          }}
        >
          Answer
        </button>
      </div>
    </section>
  );
}
