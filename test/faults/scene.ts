/** A server behind a proxy. Bridges and clients use the proxy. Checks use the server directly. */
import { A2aClient } from './a2a-client.ts';
import type { Findings } from './findings.ts';
import { Place } from './place.ts';
import type { Programs } from './programs.ts';
import type { Random } from './random.ts';
import { TcpProxy } from './tcp-proxy.ts';

export interface Scene {
  place: Place;
  proxy: TcpProxy;
  through: A2aClient;
  random: Random;
  findings: Findings;
}

/** Starts a server and a proxy, runs `work`, and shuts the server down in an orderly way. */
export async function inScene(
  { programs, random, findings }: { programs: Programs; random: Random; findings: Findings },
  work: (scene: Scene) => Promise<void>,
): Promise<void> {
  const proxy = await TcpProxy.listen();
  const serverArgs = ['--public-url', proxy.url];
  const place = await Place.open({ programs, random, agentUrl: proxy.url, serverArgs });
  proxy.target = place.port;
  try {
    const { token } = await place.serving();
    await work({ place, proxy, through: new A2aClient({ url: proxy.url, token }), random, findings });
    await place.stopServer();
  } finally {
    await place.close();
    await proxy.close();
  }
}
