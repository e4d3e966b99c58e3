/** Asks for the token where the address brought none. */
import { useState } from 'preact/hooks';

export function SignIn({
  problem,
  onToken,
}: {
  problem: string | undefined;
  onToken: (token: string) => void;
}) {
  const [token, setToken] = useState('');
  return (
    <form
      class="sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== '') onToken(token.trim());
      }}
    >
      <h1>Approvals</h1>
      <p>
        <code>mcp-a2a-bridge page</code> prints an address that signs you in. Or paste the server's token:
      </p>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="row">
        <input
          type="password"
          aria-label="Token"
          autocomplete="off"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <button class="main">Sign in</button>
      </div>
    </form>
  );
}
