import { clientGroup } from './client/group.ts';
import { testGroup } from './test-group.ts';
import { transportNames } from './transports.ts';

for (const transport of transportNames) testGroup(clientGroup(transport));
