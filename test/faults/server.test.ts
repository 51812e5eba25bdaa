import { serverGroup } from './server/group.ts';
import { testGroup } from './test-group.ts';

testGroup(serverGroup);
