import { join } from 'node:path';

export const databasePath = (stateDirectory: string): string => join(stateDirectory, 'bridge.db');
