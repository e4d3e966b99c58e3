/** Shows what the person still needs before a passkey works here: another address, or a passkey. */
import { useEffect, useState } from 'preact/hooks';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { useLoaded } from '../use-loaded.ts';
import {
  createPasskeyLink,
  listPasskeys,
  onPasskeysChange,
  type PasskeyLinkTarget,
} from './passkey-requests.ts';

export function PasskeySetupNotice({ target }: { target: PasskeyLinkTarget }) {
  const [changes, setChanges] = useState(0);
  useEffect(() => onPasskeysChange(() => setChanges((before) => before + 1)), []);
  const { value: list, error } = useLoaded(listPasskeys, [changes]);
  const [problem, setProblem] = useState<unknown>();
  useEffect(() => setProblem(undefined), [list]);
  const open = async (): Promise<void> => {
    try {
      location.href = await createPasskeyLink(target);
    } catch (failure) {
      setProblem(failure);
    }
  };
  const shown = problem ?? error;
  if (shown !== undefined) return <p class="problem">{errorMessageOf(shown)}</p>;
  if (list === undefined) return null;
  if (list.origin === undefined) return <p class="problem">{list.problem}</p>;
  if (list.origin !== location.origin)
    return (
      <p class="warning passkey-address">
        A browser uses passkeys only at {list.origin}, not at {location.origin}.{' '}
        <button onClick={() => void open()}>Open this page there</button>
      </p>
    );
  if (list.passkeys.length > 0) return null;
  return (
    <p class="warning">
      A rule demands your passkey, and you have none. Run <code>a2a-server passkey add</code> on the machine
      of the server, and open the link that it prints. For a user other than local, add{' '}
      <code>--principal</code> and the name.
    </p>
  );
}
