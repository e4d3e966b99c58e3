/** The approval page: what waits for a person, and what they say to it. */
import { render } from 'preact';
import { useState } from 'preact/hooks';
import { A2aClient } from '../../../shared/client/index.ts';
import { Desk } from './desk.tsx';
import { SignIn } from './sign-in.tsx';
import { forgetToken, keepToken, takeToken } from './token.ts';

function Page({ first }: { first: string | null }) {
  const [token, setToken] = useState(first);
  const [problem, setProblem] = useState<string>();
  if (token === null)
    return (
      <SignIn
        problem={problem}
        onToken={(given) => {
          keepToken(given);
          setProblem(undefined);
          setToken(given);
        }}
      />
    );
  return (
    <Desk
      client={new A2aClient({ url: location.origin, token, channel: 'page' })}
      key={token}
      onRefused={() => {
        forgetToken();
        setProblem('The server does not take this token.');
        setToken(null);
      }}
    />
  );
}

const root = document.getElementById('page');
if (root !== null) {
  root.replaceChildren();
  render(<Page first={takeToken()} />, root);
}
