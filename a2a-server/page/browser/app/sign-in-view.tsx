/**
 * Signs in with the code of a one-time link or with the OpenID Connect provider, or explains how to get a link. The person
 * must press a button for a link, because link scanners open links but press no buttons.
 */
import { useEffect, useState } from 'preact/hooks';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { ProblemLine } from '../problem-line.tsx';
import {
  finishProviderSignIn,
  readProviderName,
  startProviderSignIn,
  takeSilentSignInAttempt,
} from '../sign-in/provider-sign-in.ts';
import { signIn } from '../sign-in/sign-in.ts';

interface SignInProps {
  code: string | undefined;
  /** The answer of the provider, if the browser has just returned from it. */
  providerAnswer: string | undefined;
  /** The code of a link that registers a passkey. The page keeps it while the person signs in at the provider. */
  registrationCode: string | undefined;
  /**
   * Called after the page has sent the code or the answer. The server accepts each of them once, even if the sign-in
   * fails.
   */
  onUsed: () => void;
  /** Restores the fragment that the address had before the person went to the provider. */
  onFragment: (fragment: string) => void;
  onSignedIn: () => void;
}

export function SignInView(props: SignInProps) {
  const { code, providerAnswer, registrationCode, onUsed, onFragment, onSignedIn } = props;
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(providerAnswer !== undefined);
  const [provider, setProvider] = useState<string>();
  const begin = (): void => {
    setBusy(true);
    setProblem(undefined);
  };
  const done = (failed: string | undefined): void => {
    setBusy(false);
    setProblem(failed);
    if (failed === undefined) onSignedIn();
  };
  const exchange = async (secret: string): Promise<void> => {
    begin();
    onUsed();
    done(await signIn(secret));
  };
  const leave = async (silent: boolean): Promise<void> => {
    begin();
    const failed = await startProviderSignIn(silent, registrationCode);
    // Without a problem, the browser is about to leave the page.
    if (failed !== undefined) done(failed);
  };
  const finish = async (answer: string): Promise<void> => {
    onUsed();
    done(await finishProviderSignIn(answer, onFragment));
  };
  useEffect(() => {
    void readProviderName().then(setProvider);
    if (providerAnswer !== undefined) void finish(providerAnswer);
    else if (code === undefined && takeSilentSignInAttempt()) void leave(true);
  }, []);
  useEffect(() => {
    // A browser may keep this page in memory while the person signs in at the provider. If the person goes back, the
    // kept page is still busy.
    const restored = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) setBusy(false);
    };
    window.addEventListener('pageshow', restored);
    return () => window.removeEventListener('pageshow', restored);
  }, []);
  return (
    <div class="sign-in" role="main">
      <h1>Approvals</h1>
      <ProblemLine text={problem} />
      {busy ? (
        <p class="quiet">Signing in …</p>
      ) : code !== undefined ? (
        <>
          <p>This link signs this browser in for a day. It works once.</p>
          <button class="main" onClick={() => void exchange(code)}>
            Sign in
          </button>
        </>
      ) : (
        <>
          <p>This browser is not signed in.</p>
          {provider !== undefined && (
            <button class="main" onClick={() => void leave(false)}>
              Sign in with {visibleLine(provider)}
            </button>
          )}
          <p>
            {provider === undefined ? 'Run' : 'Or run'} <code>mcp-a2a-bridge page</code> in a terminal, and
            open the link that it prints. In a clone, the command is{' '}
            <code>node dist/bridge/main.js page</code>.
          </p>
        </>
      )}
    </div>
  );
}
