import { type CheckResult, checkResults } from '../runtime/check-result.ts';
import type { Environment } from '../runtime/environment.ts';
import { STATE_DIRECTORY_VARIABLE } from '../state/state-directory.ts';
import { nearestNames } from '../text/nearest-names.ts';
import type { Settings } from './resolve-settings.ts';
import { CONFIG_VARIABLE } from './settings-location.ts';

/** The variables that Kubernetes sets in each pod for a Service, e.g. `A2A_SERVER_SERVICE_HOST` for `a2a-server`. */
const KUBERNETES_SERVICE_VARIABLE = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?$/u;

/**
 * Returns a warning for each environment variable whose name resembles the variable of a setting. The program ignores
 * such a variable.
 * @param prefix the prefix of the program's variables, e.g. `A2A_SERVER_`
 * @param values the values of the settings. If a value names a variable, e.g. the variable of a token, that variable
 * gets no warning.
 */
export function checkVariableNames(
  prefix: string,
  { settings, values, env }: { settings: Settings; values: object; env: Environment },
): CheckResult[] {
  const known = [
    ...Object.values(settings).map((each) => each.env),
    STATE_DIRECTORY_VARIABLE,
    CONFIG_VARIABLE,
  ];
  const endings = known.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const used = new Set(JSON.stringify(values).match(/\w+/gu));
  return Object.keys(env)
    .filter((name) => !KUBERNETES_SERVICE_VARIABLE.test(name))
    .filter((name) => name.startsWith(prefix) && !known.includes(name) && !used.has(name))
    .flatMap((name) => {
      const [nearest] = nearestNames(name.slice(prefix.length), endings);
      return nearest === undefined
        ? []
        : checkResults('environment').warn(
            `the variable ${name} is ignored, because no setting has this name`,
            `Rename it to ${prefix}${nearest}, if you mean that setting.`,
          );
    });
}
