import { messagesGroup } from './messages/group.ts';
import { testGroup } from './test-group.ts';

testGroup(messagesGroup);
