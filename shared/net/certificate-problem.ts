/**
 * What a person can do about a rejected certificate: trust the certificate, trust its authority, use another host name,
 * or renew the certificate.
 */
export type CertificateRemedy = 'trust-certificate' | 'trust-authority' | 'other-name' | 'renew';

interface CertificateProblem {
  /** The rest of a sentence about the server, e.g. `its certificate is self-signed`. */
  cause: string;
  remedy: CertificateRemedy;
}

const UNKNOWN_AUTHORITY: CertificateProblem = {
  cause: 'its certificate is from an unknown authority',
  remedy: 'trust-authority',
};

/** The problem behind each error code of Node's TLS (`tls` documentation, "X509 certificate error codes"). */
const PROBLEMS: Readonly<Record<string, CertificateProblem>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: { cause: 'its certificate is self-signed', remedy: 'trust-certificate' },
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: { cause: 'its certificate has expired', remedy: 'renew' },
  CERT_NOT_YET_VALID: { cause: 'its certificate is not valid yet', remedy: 'renew' },
  ERR_TLS_CERT_ALTNAME_INVALID: { cause: 'its certificate is for another host name', remedy: 'other-name' },
};

/** Returns why TLS rejected a certificate. Returns undefined if the error code is not about a certificate. */
export function certificateProblem(code: string): CertificateProblem | undefined {
  return Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code] : undefined;
}
