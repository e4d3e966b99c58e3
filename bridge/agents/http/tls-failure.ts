/** Describes why TLS rejected an agent's certificate, and what to do about it. Pure. */
import { certificateProblem, type CertificateRemedy } from '../../../shared/net/certificate-problem.ts';

const ADVICE: Readonly<Record<CertificateRemedy, string>> = {
  'trust-certificate':
    'Set NODE_EXTRA_CA_CERTS to a PEM file with this certificate, where the MCP client starts the bridge.',
  'trust-authority':
    'Set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of its authority, where the MCP client starts the bridge.',
  'other-name': 'Set the URL of the agent to a host name that the certificate has.',
  renew: "Renew the agent's certificate, and check this machine's clock.",
};

/** Explains a certificate error and what to do about it. Returns undefined if `code` is not a certificate error. */
export function tlsFailureText(code: string, agent: string): string | undefined {
  const found = certificateProblem(code);
  return found === undefined
    ? undefined
    : `The connection to agent "${agent}" is not trusted: ${found.cause} (${code}). Nothing was sent. ${ADVICE[found.remedy]}`;
}
