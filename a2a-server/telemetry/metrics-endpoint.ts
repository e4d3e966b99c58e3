import { z } from 'zod';

/** The address of `GET /metrics`: none, the server's own address with a token, or another address without a token. */
type MetricsEndpoint =
  | { type: 'off' }
  | { type: 'own-address' }
  | { type: 'other-address'; host: string; port: number };

const ADDRESS = /^(?:\[(?<v6>[\da-fA-F:.]+)\]|(?<name>[A-Za-z\d._-]+)):(?<port>\d{1,5})$/;

export const metricsEndpointSchema = z.string().transform((text, context): MetricsEndpoint => {
  if (text === 'off') return { type: 'off' };
  if (text === 'on') return { type: 'own-address' };
  const { v6, name, port } = ADDRESS.exec(text)?.groups ?? {};
  const host = v6 ?? name;
  if (host !== undefined && Number(port) <= 65_535)
    return { type: 'other-address', host, port: Number(port) };
  context.addIssue({ code: 'custom', message: 'it is neither off, on nor an address with a port' });
  return z.NEVER;
});
