import { storageGroup } from './storage/group.ts';
import { testGroup } from './test-group.ts';

testGroup(storageGroup);
