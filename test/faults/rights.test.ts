import { rightsGroup } from './rights/group.ts';
import { testGroup } from './test-group.ts';

testGroup(rightsGroup);
