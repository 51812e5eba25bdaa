import { testGroup } from './test-group.ts';
import { transportNames } from './transports.ts';
import { upstreamGroup } from './upstream/group.ts';

for (const transport of transportNames) testGroup(upstreamGroup(transport));
