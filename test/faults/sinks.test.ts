import { sinksGroup } from './sinks/group.ts';
import { testGroup } from './test-group.ts';

testGroup(sinksGroup);
