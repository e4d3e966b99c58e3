/**
 * A process that competes with others for rows of the bridge's database. It claims each question, takes over the rows
 * of the ended process, and prints its successes. Arguments: the state directory, a name, the number of questions.
 */
import { Outbox } from '../../bridge/state/outbox.ts';
import { BridgeDatabase } from '../../bridge/state/database.ts';
import { DecisionClaims } from '../../bridge/state/decision-claims.ts';

const [stateDirectory = '', name = '', questions = '0'] = process.argv.slice(2);
const database = await BridgeDatabase.open(stateDirectory);
const claims = new DecisionClaims(database);
const claimed: string[] = [];
for (let at = 0; at < Number(questions); at++) {
  const asking = { agent: 'a', taskId: 't', callId: String(at), shown: 'h' };
  if ((await claims.take(asking, name, new Set())) === undefined) claimed.push(asking.callId);
}
const adopted = (await new Outbox(database).takeOverOrphaned()).map(({ messageId }) => messageId);
process.stdout.write(JSON.stringify({ claimed, adopted }));
database.close();
