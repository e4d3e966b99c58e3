/** Shows what the person still needs before a passkey works here: another address, or a passkey. */
import { useEffect, useState } from 'preact/hooks';
import type { PasskeyList } from '../../../../shared/protocol/registered-passkey.ts';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import {
  createPasskeyLink,
  listPasskeys,
  onPasskeysChange,
  type PasskeyLinkTarget,
} from './passkey-requests.ts';

export function PasskeySetupNotice({ target }: { target: PasskeyLinkTarget }) {
  const [list, setList] = useState<PasskeyList>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    /** The number of the newest request. An older answer may arrive after a newer one. */
    let newest = 0;
    const load = async (): Promise<void> => {
      newest += 1;
      const mine = newest;
      try {
        const found = await listPasskeys();
        if (mine !== newest) return;
        setList(found);
        setProblem(undefined);
      } catch (error) {
        if (mine === newest) setProblem(errorMessageOf(error));
      }
    };
    void load();
    return onPasskeysChange(() => void load());
  }, []);
  const open = async (): Promise<void> => {
    try {
      location.href = await createPasskeyLink(target);
    } catch (error) {
      setProblem(errorMessageOf(error));
    }
  };
  if (problem !== undefined) return <p class="problem">{problem}</p>;
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
