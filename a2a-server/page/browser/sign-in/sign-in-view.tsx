/**
 * Signs in with the code of a one-time link, or explains how to get a link. The person must press a button, because
 * link scanners open links but press no buttons.
 */
import { useState } from 'preact/hooks';
import { signIn } from './sign-in.ts';

interface SignInProps {
  code: string | undefined;
  /** Called after the page has sent the code. The code is then used up, even if the sign-in failed. */
  onUsed: () => void;
  onSignedIn: () => void;
}

export function SignInView({ code, onUsed, onSignedIn }: SignInProps) {
  const [problem, setProblem] = useState<string>();
  const exchange = async (secret: string): Promise<void> => {
    onUsed();
    const failed = await signIn(secret);
    setProblem(failed);
    if (failed === undefined) onSignedIn();
  };
  return (
    <div class="sign-in" role="main">
      <h1>Approvals</h1>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {code === undefined ? (
        <p>
          This browser is not signed in. Run <code>mcp-a2a-bridge page</code> in a terminal and open the link
          that it prints.
        </p>
      ) : (
        <>
          <p>This link signs this browser in for a day. It works once.</p>
          <button class="main" onClick={() => void exchange(code)}>
            Sign in
          </button>
        </>
      )}
    </div>
  );
}
