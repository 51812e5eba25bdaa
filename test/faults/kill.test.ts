import { killGroup } from './kill/group.ts';
import { testGroup } from './test-group.ts';

testGroup(killGroup);
