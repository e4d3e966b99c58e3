/** Describes why TLS rejected an agent's certificate, and what to do about it. Pure. */

const UNTRUSTED =
  'Set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of its authority, where the MCP client starts the bridge.';
const OTHER_NAME = 'Set the URL of the agent to a host name that the certificate has.';
const OUT_OF_DATE = "Renew the agent's certificate, and check this machine's clock.";

/** The codes of Node's TLS (`tls` documentation, "X509 certificate error codes"). */
const CAUSES: ReadonlyMap<string, { cause: string; advice: string }> = new Map([
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    {
      cause: 'its certificate is self-signed',
      advice:
        'Set NODE_EXTRA_CA_CERTS to a PEM file with this certificate, where the MCP client starts the bridge.',
    },
  ],
  ['SELF_SIGNED_CERT_IN_CHAIN', { cause: 'its certificate is from an unknown authority', advice: UNTRUSTED }],
  [
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    { cause: 'its certificate is from an unknown authority', advice: UNTRUSTED },
  ],
  ['UNABLE_TO_GET_ISSUER_CERT', { cause: 'its certificate is from an unknown authority', advice: UNTRUSTED }],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    { cause: 'its certificate is from an unknown authority', advice: UNTRUSTED },
  ],
  ['CERT_HAS_EXPIRED', { cause: 'its certificate has expired', advice: OUT_OF_DATE }],
  ['CERT_NOT_YET_VALID', { cause: 'its certificate is not valid yet', advice: OUT_OF_DATE }],
  ['ERR_TLS_CERT_ALTNAME_INVALID', { cause: 'its certificate is for another host name', advice: OTHER_NAME }],
]);

/** @returns undefined if the code is no error of a certificate */
export function tlsFailure(code: string, agent: string): string | undefined {
  const found = CAUSES.get(code);
  return found === undefined
    ? undefined
    : `The connection to agent "${agent}" is not trusted: ${found.cause} (${code}). Nothing was sent. ${found.advice}`;
}
