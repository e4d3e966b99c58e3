import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { A2aClient } from '../../../../shared/client/index.ts';
import { onAddressChange, replaceFragment, takeSecret } from '../address.ts';
import { SignedInPage } from './signed-in-page.tsx';
import { guardClicks } from '../click-guard.ts';
import { HighlighterContext } from '../diff/code-pieces.ts';
import { highlightedLines } from '../diff/highlight.ts';
import { SignInView } from './sign-in-view.tsx';
import { takeProviderAnswer } from '../sign-in/provider-sign-in.ts';
import { PAGE_API_URL, forgetPageKey, onSignInChange, pageKey, signedInFetch } from '../sign-in/sign-in.ts';

const client = new A2aClient({ url: PAGE_API_URL, fetch: signedInFetch, channel: 'page' });

interface PageProps {
  code: string | undefined;
  providerAnswer: string | undefined;
  registrationCode: string | undefined;
}

function Page({ code: given, providerAnswer: answer, registrationCode: registration }: PageProps) {
  const [key, setKey] = useState(pageKey());
  const [code, setCode] = useState(given);
  const [providerAnswer, setProviderAnswer] = useState(pageKey() === null ? answer : undefined);
  const [registrationCode, setRegistrationCode] = useState(registration);
  const look = (): void => setKey(pageKey());
  useEffect(() => onSignInChange(look), []);
  // If a link opens in a tab that already shows this page, only the fragment changes. The page does not load again, so
  // this function takes the codes.
  const takeCodes = (): void => {
    const [signInCode, passkeyCode] = [takeSecret('code'), takeSecret('passkey')];
    if (signInCode !== undefined) setCode(signInCode);
    if (passkeyCode !== undefined) setRegistrationCode(passkeyCode);
  };
  useEffect(() => onAddressChange(takeCodes), []);
  const used = (): void => {
    setCode(undefined);
    setProviderAnswer(undefined);
  };
  if (key === null)
    return (
      <SignInView
        {...{ code, providerAnswer, registrationCode }}
        onUsed={used}
        onFragment={replaceFragment}
        onSignedIn={look}
      />
    );
  const signedOut = (): void => {
    // The refused request may belong to an earlier sign-in, if its response arrives after the next sign-in. Then the
    // key of the new sign-in stays.
    if (pageKey() === key) forgetPageKey();
    look();
  };
  return (
    <SignedInPage
      key={key}
      client={client}
      signInCode={code}
      registrationCode={registrationCode}
      onCodeUsed={() => setRegistrationCode(undefined)}
      onSignedOut={signedOut}
    />
  );
}

const root = document.getElementById('page');
if (root !== null) {
  guardClicks(root);
  root.replaceChildren();
  render(
    <HighlighterContext.Provider value={highlightedLines}>
      <Page
        code={takeSecret('code')}
        providerAnswer={takeProviderAnswer()}
        registrationCode={takeSecret('passkey')}
      />
    </HighlighterContext.Provider>,
    root,
  );
}
