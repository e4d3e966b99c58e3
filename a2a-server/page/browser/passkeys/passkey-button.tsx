/**
 * Shows the button that opens the list of the person's passkeys. `a2a-server passkey add` prints a link with a
 * registration code. With this code, the list opens when the page loads, and the person can add a passkey.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import type { RegisteredPasskey } from '../../../../shared/protocol/registered-passkey.ts';
import { ProblemLine } from '../problem-line.tsx';
import { listPasskeys, registerPasskey, removePasskey } from './passkey-requests.ts';

interface PasskeyButtonProps {
  registrationCode: string | undefined;
  /** Called after the code has registered a passkey. */
  onCodeUsed: () => void;
}

export function PasskeyButton({ registrationCode, onCodeUsed }: PasskeyButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [passkeys, setPasskeys] = useState<readonly RegisteredPasskey[]>([]);
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  /** The number of requests for the list so far. The page ignores a late response to an earlier request. */
  const listRequests = useRef(0);
  const act = async (change: () => Promise<void>): Promise<void> => {
    setProblem(undefined);
    try {
      await change();
      listRequests.current += 1;
      const request = listRequests.current;
      const { passkeys: listed } = await listPasskeys();
      if (request === listRequests.current) setPasskeys(listed);
    } catch (error) {
      setProblem(errorMessageOf(error));
    }
  };
  const open = (): void => {
    dialog.current?.showModal();
    void act(() => Promise.resolve());
  };
  useEffect(() => {
    if (registrationCode !== undefined) open();
  }, []);
  const add = (code: string): Promise<void> =>
    act(async () => {
      await registerPasskey(code, name.trim());
      onCodeUsed();
    });
  return (
    // `data-live`: the click guard ignores changes here, because they move no button of an action.
    <span data-live>
      <button onClick={open}>Passkeys</button>
      <dialog ref={dialog} aria-labelledby="passkeys-title">
        <h2 id="passkeys-title">Passkeys</h2>
        <ProblemLine text={problem} />
        {passkeys.length === 0 && <p class="quiet">You have no passkey on this server.</p>}
        <ul class="passkeys">
          {passkeys.map((each) => (
            <li key={each.id} class="row">
              <span>
                {visibleLine(each.name)}{' '}
                <small class="quiet">since {new Date(each.registeredAt).toLocaleDateString()}</small>
              </span>
              <ConfirmButton
                label="Remove"
                question={`Remove ${visibleLine(each.name)}?`}
                yes="Remove it"
                no="Keep it"
                onYes={() => void act(() => removePasskey(each.id))}
              />
            </li>
          ))}
        </ul>
        {registrationCode === undefined ? (
          <p class="quiet">
            To add one, run <code>a2a-server passkey add</code> on the machine of the server.
          </p>
        ) : (
          <div class="row">
            <input
              aria-label="Name of the new passkey"
              placeholder="name, e.g. my laptop"
              maxLength={100}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
            <button class="main" disabled={name.trim() === ''} onClick={() => void add(registrationCode)}>
              Add a passkey
            </button>
          </div>
        )}
        <button onClick={() => dialog.current?.close()}>Close</button>
      </dialog>
    </span>
  );
}
