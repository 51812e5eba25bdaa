import { secretsGroup } from './secrets/group.ts';
import { testGroup } from './test-group.ts';

testGroup(secretsGroup);
