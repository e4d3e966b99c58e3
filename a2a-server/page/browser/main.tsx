/** Starts the approval page, where a person sees and decides pending actions. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { A2aClient } from '../../../shared/client/index.ts';
import { takeCode } from './address.ts';
import { Approvals } from './approvals.tsx';
import { guardChanges } from './change-guard.ts';
import { SignInView } from './sign-in-view.tsx';
import { API, forgetPageKey, onSignInChange, pageKey, signedInFetch } from './sign-in.ts';

const client = new A2aClient({ url: API, fetch: signedInFetch, channel: 'page' });

function Page({ code: given }: { code: string | undefined }) {
  const [key, setKey] = useState(pageKey());
  const [code, setCode] = useState(given);
  const look = (): void => setKey(pageKey());
  useEffect(() => onSignInChange(look), []);
  if (key === null) return <SignInView code={code} onUsed={() => setCode(undefined)} onSignedIn={look} />;
  const signedOut = (): void => {
    forgetPageKey();
    look();
  };
  return <Approvals key={key} client={client} onSignedOut={signedOut} />;
}

const root = document.getElementById('page');
if (root !== null) {
  guardChanges(root);
  root.replaceChildren();
  render(<Page code={takeCode()} />, root);
}
