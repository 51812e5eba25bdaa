import { memoryGroup } from './memory/group.ts';
import { testGroup } from './test-group.ts';

testGroup(memoryGroup);
