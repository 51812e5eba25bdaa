import { hostileGroup } from './hostile/group.ts';
import { testGroup } from './test-group.ts';

testGroup(hostileGroup);
