import { fuzzGroup } from './hostile/fuzz.ts';
import { testGroup } from './test-group.ts';
import { transportNames } from './transports.ts';

for (const transport of transportNames) testGroup(fuzzGroup(transport));
