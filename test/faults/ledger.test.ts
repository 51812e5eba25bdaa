import { ledgerGroup } from './ledger/group.ts';
import { testGroup } from './test-group.ts';

testGroup(ledgerGroup);
